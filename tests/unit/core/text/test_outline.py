from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.text.outline import Heading, chapters_from_headings, chapters_from_paragraphs, slug


def assert_covers(text: str, chapters: Sequence[Chapter]) -> None:
    """Chapters follow each other, do not overlap, cover the text and agree with its lines."""
    assert [chapter.ordinal for chapter in chapters] == list(range(len(chapters)))
    assert len({chapter.anchor for chapter in chapters}) == len(chapters)
    if not text.strip():
        assert not chapters
        return
    assert chapters[0].start == 0
    assert chapters[-1].end == len(text)
    for before, after in itertools.pairwise(chapters):
        assert before.end == after.start
        assert before.end_line + 1 == after.start_line
    for chapter in chapters:
        assert text[chapter.start : chapter.end].strip()
        assert chapter.start_line == text.count("\n", 0, chapter.start) + 1
        assert chapter.end_line == text.count("\n", 0, chapter.end - 1) + 1


@pytest.mark.parametrize(
    ("name", "anchor"),
    [
        ("Install", "install"),
        ("How do I start?", "how-do-i-start"),
        ("C# & .NET", "c--net"),
        ("snake_case and kebab-case", "snake_case-and-kebab-case"),
        ("Настройка сервера", "настройка-сервера"),
        ("Größe", "größe"),
        ("🚀", ""),
    ],
)
def test_anchors_are_those_of_github(name: str, anchor: str) -> None:
    assert slug(name) == anchor


def test_repeated_headings_are_all_reachable() -> None:
    text = "# Install\n\n## Install\n\n## Install-1\n\n# Install\n"
    found = chapters_from_headings(
        text, [Heading(1, 1, "Install"), Heading(3, 2, "Install"), Heading(5, 2, "Install-1"), Heading(7, 1, "Install")]
    )
    assert [chapter.anchor for chapter in found] == ["install", "install-1", "install-1-1", "install-2"]


def test_paths_follow_levels_and_jumps() -> None:
    text = "# A\n#### D\n## B\n# E\n"
    found = chapters_from_headings(
        text, [Heading(1, 1, "A"), Heading(2, 4, "D"), Heading(3, 2, "B"), Heading(4, 1, "E")]
    )
    assert [chapter.path for chapter in found] == [("A",), ("A", "D"), ("A", "B"), ("E",)]
    assert_covers(text, found)


def test_text_before_the_first_heading_is_the_preamble() -> None:
    text = "hello\n\n# A\nbody\n"
    preamble, chapter = chapters_from_headings(text, [Heading(3, 1, "A")])
    assert (preamble.kind, preamble.anchor, preamble.name) == (ChapterKind.PREAMBLE, "_preamble", "")
    assert (preamble.start_line, preamble.end_line) == (1, 2)
    assert (chapter.start_line, chapter.end_line) == (3, 4)


def test_blank_lines_before_the_first_heading_belong_to_it() -> None:
    text = "\n\n# A\n"
    (chapter,) = chapters_from_headings(text, [Heading(3, 1, "A")])
    assert (chapter.start, chapter.start_line) == (0, 1)


def test_a_nameless_heading_is_addressed_by_its_line() -> None:
    first, second = chapters_from_headings("##\nx\n# !!!\ny\n", [Heading(1, 2, ""), Heading(3, 1, "!!!")])
    assert (first.anchor, second.anchor) == ("L1", "L3")
    assert not first.is_named


def test_a_heading_cannot_take_the_anchor_of_the_preamble() -> None:
    _, chapter = chapters_from_headings("x\n# _preamble\n", [Heading(2, 1, "_preamble")])
    assert chapter.anchor == "_preamble-1"


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n"])
def test_blank_text_has_no_chapters(text: str) -> None:
    assert chapters_from_headings(text, []) == ()
    assert chapters_from_paragraphs(text) == ()


def test_paragraphs_know_their_lines() -> None:
    text = "\npara one\nsecond line\n\npara two\n\n\n\npara three"
    found = chapters_from_paragraphs(text)
    assert [(chapter.anchor, chapter.start_line, chapter.end_line) for chapter in found] == [
        ("L1", 1, 4),
        ("L5", 5, 8),
        ("L9", 9, 9),
    ]
    assert_covers(text, found)


def test_very_many_paragraphs_are_put_together() -> None:
    text = "line\n\n" * 60_000
    found = chapters_from_paragraphs(text)
    assert len(found) <= 20_000
    assert_covers(text, found)


@given(st.lists(st.sampled_from(["", " ", "word", "two words", "\t", "é"]), max_size=40), st.data())
def test_chapters_always_cover_the_text(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    assert_covers(text, chapters_from_paragraphs(text))
    filled = [number for number, line in enumerate(lines, 1) if line.strip()]
    chosen = sorted(data.draw(st.sets(st.sampled_from(filled)))) if filled else []
    levels = data.draw(st.lists(st.integers(1, 6), min_size=len(chosen), max_size=len(chosen)))
    headings = [Heading(line, level, "Same") for line, level in zip(chosen, levels, strict=True)]
    assert_covers(text, chapters_from_headings(text, headings))
