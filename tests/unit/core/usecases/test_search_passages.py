"""What a search shows of a document: the right chapter, whole units, lines that an editor finds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.ingest import Indexed
from armillary_core.domain.query import Scope
from search_world import SearchWorld, analysed, open_search_world

pytestmark = pytest.mark.anyio

FILLER = "Nothing of interest stands in this line at all.\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SearchWorld]:
    async with open_search_world(tmp_path) as opened:
        yield opened


async def test_short_neighbours_that_also_match_are_shown_together(world: SearchWorld) -> None:
    text = "# Tides\n## Spring\nThe spring tide.\n## Neap\nThe neap tide is smaller.\n## Wind\nNo such thing.\n"
    await world.add("notes", {"tides.md": text})
    first = (await world.ask("which tide is the smaller neap one")).passages[0]
    assert first.heading_path == ("Tides", "Neap")
    assert first.text == "# Tides\n## Spring\nThe spring tide.\n## Neap\nThe neap tide is smaller."
    assert first.lines == (1, 5)


async def test_the_last_line_of_a_long_document_is_found_and_cited(world: SearchWorld) -> None:
    text = "# Log\n" + FILLER * 500 + "At last the quartz tide.\n"
    await world.add("notes", {"log.md": text})
    first = (await world.ask("quartz")).passages[0]
    assert first.lines is not None
    assert first.lines[1] == text.count("\n")
    assert first.text.endswith("At last the quartz tide.")
    assert len(first.text) <= world.policy.stretch_chars


async def test_lines_and_characters_agree(world: SearchWorld) -> None:
    text = "# Ünïcode ✓\n\n" + "эта строка ничего не говорит\n" * 80 + "\nздесь прилив\n\n" + "и снова ничего\n" * 80
    await world.add("notes", {"a.md": text})
    for passage in (await world.ask("прилив")).passages:
        assert passage.lines is not None
        first, last = passage.lines
        assert text.count("\n", 0, passage.start) + 1 == first
        assert text[passage.start : passage.end] in "\n".join(text.split("\n")[first - 1 : last])


async def test_a_function_keeps_its_signature(world: SearchWorld) -> None:
    source = "# turn\ndef turn(tide, moon):\n" + "    moon = moon + 1\n" * 90 + "    return quartz(tide)\n"
    plain = analysed(source, "tide.py", media_type="text/x-python")
    await world.add("code", {"tide.py": _as_function(plain, source)})
    first = (await world.ask("quartz")).passages[0]
    assert first.text.startswith("def turn(tide, moon):\n…\n")
    assert first.text.endswith("return quartz(tide)")
    assert first.start > source.index("def turn")


def _as_function(plain: Indexed, source: str) -> Indexed:
    start = source.index("def")
    (chapter,) = plain.text.chapters
    code = replace(chapter, kind=ChapterKind.FUNCTION, start=start, start_line=2)
    head = replace(chapter, end=start, end_line=1, kind=ChapterKind.MODULE)
    return replace(plain, text=replace(plain.text, chapters=(replace(code, ordinal=0), replace(head, ordinal=1))))


async def test_a_page_is_cited(world: SearchWorld) -> None:
    plain = analysed("# Report\nThe quartz tide.\n", "report.pdf", media_type="application/pdf")
    pages = tuple(replace(chapter, page=12, kind=ChapterKind.PAGE) for chapter in plain.text.chapters)
    await world.add("notes", {"report.pdf": replace(plain, text=replace(plain.text, chapters=pages))})
    assert (await world.ask("quartz")).passages[0].page == 12


async def test_a_title_hit_shows_the_lead(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": "# Tides\nThe first words.\n## More\n" + FILLER * 60})
    first = (await world.ask("tides", scope=Scope.TITLES)).passages[0]
    assert first.start == 0
    assert first.text.startswith("# Tides\nThe first words.")


async def test_an_empty_document_is_found_by_its_name(world: SearchWorld) -> None:
    await world.add("notes", {"harbour.md": "", "blank.md": " \n\t\n"})
    first = (await world.ask("harbour")).passages[0]
    assert (first.document, first.text, first.snippet, first.lines) == ("notes::harbour.md", "", "", None)
