"""The real default model: its vectors are what the world's are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armillary_core.adapters.embedding.fastembed import FastembedEmbedder
from armillary_core.adapters.embedding.registry import DEFAULT_MODEL
from armillary_core.ports.embedder import ModelFacts

pytestmark = [pytest.mark.anyio, pytest.mark.model]


@pytest.fixture
async def embedder(model_folder: Path) -> AsyncIterator[FastembedEmbedder]:
    opened = FastembedEmbedder(model_folder, DEFAULT_MODEL)
    yield opened
    await opened.close()


async def vectors_of(embedder: FastembedEmbedder, *texts: str) -> list[list[float]]:
    made = await embedder.passages(texts)
    assert isinstance(made, list), made
    return made


def cosine(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


async def test_the_first_numbers_are_the_published_ones(embedder: FastembedEmbedder) -> None:
    (vector,) = await vectors_of(embedder, "hello world")
    published = [0.01522374, -0.02271799, 0.00860278, -0.07424029, 0.00386434]
    assert all(abs(ours - theirs) < 0.02 for ours, theirs in zip(vector, published, strict=False))


async def test_a_paraphrase_is_nearer_than_anything_else(embedder: FastembedEmbedder) -> None:
    question = await embedder.query("restart the web server once its settings changed")
    assert isinstance(question, list)
    answer, *others = await vectors_of(
        embedder,
        "Reload nginx after editing its configuration.",
        "Cats sleep most of the day.",
        "A missing key in a dict raises KeyError.",
        "Configure the editor's colours.",
    )
    assert cosine(question, answer) > max(cosine(question, other) for other in others) + 0.05


async def test_the_shown_scale_separates_answers_from_the_rest(embedder: FastembedEmbedder) -> None:
    facts = embedder.facts()
    assert isinstance(facts, ModelFacts)
    question = await embedder.query("how do I rotate the backup keys?")
    assert isinstance(question, list)
    near, far = await vectors_of(
        embedder, "Backup keys are rotated every month with `backup rotate`.", "Cats sleep most of the day."
    )
    assert cosine(question, far) < facts.cosine_floor < facts.cosine_ceiling < cosine(question, near) + 0.1


async def test_neighbours_do_not_change_a_vector(embedder: FastembedEmbedder) -> None:
    text = "Backup keys are rotated every month."
    (alone,) = await vectors_of(embedder, text)
    among, *_ = await vectors_of(embedder, text, "short", "Another sentence about something else. " * 20, "4")
    assert alone == pytest.approx(among, abs=1e-6)


async def test_the_end_of_a_text_beyond_the_window_counts(embedder: FastembedEmbedder) -> None:
    filler = "The cat sleeps on the sofa all day long. " * 90
    plain, with_tail = await vectors_of(embedder, filler, filler + "Backup keys are rotated with restic. " * 60)
    assert cosine(plain, with_tail) < 0.97
