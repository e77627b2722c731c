"""The embedder, over a real onnxruntime session of a tiny model."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armillary_core.adapters.embedding.fastembed import FastembedEmbedder
from armillary_core.adapters.embedding.installation import MANIFEST
from armillary_core.adapters.embedding.registry import ModelSpec
from armillary_core.ports.embedder import EmbedderUnavailable, ModelFacts
from tiny_model import MAX_TOKENS, WORDS

pytestmark = pytest.mark.anyio


@pytest.fixture
async def embedder(installed: Path) -> AsyncIterator[FastembedEmbedder]:
    opened = FastembedEmbedder(installed, "tiny")
    yield opened
    await opened.close()


def cosine(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def share(vector: list[float], word: str) -> float:
    return vector[WORDS.index(word)]


async def passages(embedder: FastembedEmbedder, *texts: str) -> list[list[float]]:
    vectors = await embedder.passages(texts)
    assert isinstance(vectors, list), vectors
    return vectors


async def query(embedder: FastembedEmbedder, text: str) -> list[float]:
    vector = await embedder.query(text)
    assert isinstance(vector, list), vector
    return vector


async def test_facts_are_known_without_loading(embedder: FastembedEmbedder, spec: ModelSpec) -> None:
    facts = embedder.facts()
    assert isinstance(facts, ModelFacts)
    assert facts.fingerprint == f"tiny@{spec.builds[0].weights.sha256[:16]}"
    assert (facts.dimensions, facts.max_tokens, facts.languages) == (len(WORDS), MAX_TOKENS, ("en",))


async def test_vectors_come_in_the_order_of_the_texts(embedder: FastembedEmbedder) -> None:
    texts = ["cat", "backup key rotate", "sleep sleep", "key", "rotate cat"] * 7
    vectors = await passages(embedder, *texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert {word for word in WORDS[4:] if share(vector, word) > 0.1} == set(text.split())


async def test_vectors_have_length_one(embedder: FastembedEmbedder) -> None:
    for vector in await passages(embedder, "cat", "", "   ", "cat " * 100, "unheard of"):
        assert math.isclose(cosine(vector, vector), 1.0, rel_tol=1e-4)


async def test_a_question_carries_the_prefix_and_a_passage_does_not(embedder: FastembedEmbedder) -> None:
    assert share(await query(embedder, "cat"), "query") > 0.1
    (vector,) = await passages(embedder, "cat")
    assert share(vector, "query") < 0.1


async def test_the_tail_of_a_long_text_counts(embedder: FastembedEmbedder) -> None:
    (vector,) = await passages(embedder, "cat " * (3 * MAX_TOKENS) + "tail " * MAX_TOKENS)
    assert share(vector, "tail") > 0.2


async def test_windows_weigh_by_their_tokens(embedder: FastembedEmbedder) -> None:
    (vector,) = await passages(embedder, "cat " * 90 + "tail " * 10)
    assert 0.05 < share(vector, "tail") / share(vector, "cat") < 0.25


async def test_a_long_question_counts_whole(embedder: FastembedEmbedder) -> None:
    assert share(await query(embedder, "cat " * 40 + "tail " * 20), "tail") > 0.2


async def test_a_lone_surrogate_costs_nobody_a_vector(embedder: FastembedEmbedder) -> None:
    first, _, last = await passages(embedder, "cat", "bad \ud800 text", "key")
    assert share(first, "cat") > 0.9
    assert share(last, "key") > 0.9


async def test_no_texts_are_no_vectors(embedder: FastembedEmbedder) -> None:
    assert await passages(embedder) == []


async def test_a_blank_question_has_no_vector(embedder: FastembedEmbedder) -> None:
    assert isinstance(await embedder.query(" \n"), EmbedderUnavailable)


async def test_the_same_question_has_the_same_vector(embedder: FastembedEmbedder) -> None:
    first = await query(embedder, "rotate key")
    first[0] = 99.0  # a caller's scribbling does not reach the next one
    again, *_ = await asyncio.gather(*(query(embedder, "rotate key") for _ in range(8)))
    assert again[0] != 99.0


async def test_a_missing_model_says_how_to_get_it(models: Path, spec: ModelSpec) -> None:
    embedder = FastembedEmbedder(models, spec.id)
    facts = embedder.facts()
    assert isinstance(facts, EmbedderUnavailable)
    assert "armillary models fetch tiny" in facts.reason
    assert await embedder.query("cat") == facts
    assert await embedder.passages(["cat"]) == EmbedderUnavailable(facts.reason)


async def test_a_model_that_arrives_later_is_noticed(installed: Path, tmp_path: Path, spec: ModelSpec) -> None:
    aside = tmp_path / "aside"
    (installed / spec.id).rename(aside)
    embedder = FastembedEmbedder(installed, spec.id)
    assert isinstance(await embedder.query("cat"), EmbedderUnavailable)
    aside.rename(installed / spec.id)
    assert share(await query(embedder, "cat"), "cat") > 0.5
    await embedder.close()


async def test_a_damaged_model_is_named_and_tried_again_once_repaired(installed: Path, spec: ModelSpec) -> None:
    weights = installed / spec.id / "model.onnx"
    good = weights.read_bytes()
    weights.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    embedder = FastembedEmbedder(installed, spec.id)
    answer = await embedder.query("cat")
    assert isinstance(answer, EmbedderUnavailable)
    assert "model.onnx" in answer.reason
    assert embedder.facts() == answer
    weights.write_bytes(good)
    manifest = installed / spec.id / MANIFEST
    manifest.write_bytes(manifest.read_bytes())
    assert share(await query(embedder, "cat"), "cat") > 0.5
    await embedder.close()


async def test_a_half_written_folder_is_no_model(installed: Path, spec: ModelSpec) -> None:
    (installed / spec.id / "tokenizer.json").unlink()
    facts = FastembedEmbedder(installed, spec.id).facts()
    assert isinstance(facts, EmbedderUnavailable)
    assert "tokenizer.json" in facts.reason


async def test_an_unknown_model_names_those_there_are(tmp_path: Path) -> None:
    facts = FastembedEmbedder(tmp_path, "no-such").facts()
    assert isinstance(facts, EmbedderUnavailable)
    assert "bge-small-en-v1.5" in facts.reason


def test_without_a_model_nothing_heavy_is_imported(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "import armillary_core.adapters.embedding.fetch\n"
        "from armillary_core.adapters.embedding.fastembed import FastembedEmbedder\n"
        f"embedder = FastembedEmbedder(Path({str(tmp_path)!r}), 'bge-small-en-v1.5')\n"
        "assert asyncio.run(embedder.query('a question')).reason\n"
        "print([name for name in ('numpy', 'onnxruntime', 'fastembed', 'tokenizers') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
