"""B16: no answer above the cap in any tool, every cut announced with a way to go on, each item exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from armillary_core.domain.card import BaseLayer
from armillary_core.domain.document import ChapterId, DocumentId
from armillary_core.domain.ingest import Indexed
from armillary_core.domain.passage import Passage
from factories import make_chapters, make_failed, make_indexed
from worlds import World, answer_of, make_world, mcp_client, text_of

CAP = 8000
FILES = 3000
PROJECTS = 400
HEADINGS = 20_000


def long_text(text: str) -> Indexed:
    """Without chunks: how a long text is cut for search is not what is asked here."""
    return replace(
        make_indexed(text[:10]), text=replace(make_indexed("x").text, text=text, chapters=make_chapters(text))
    )


@pytest.fixture(scope="module")
def flood(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = make_world(Path(tmp_path_factory.mktemp("flood")))
    for number in range(PROJECTS):
        world.project(f"project-{number:03}", reason="nothing special" if number % 3 else None)
    many = {f"tiny/{'x' * 200}{number:05}.md": f"# T{number}\nthe md file {number}\n" for number in range(FILES)}
    world.add("project-000", many)
    keywords = tuple(f"keyword number {number}" for number in range(5000))
    world.add(
        "project-001",
        {
            "long.md": long_text("# Long\n" + "the md words of a very long chapter\n" * 85_000),
            "one-line.txt": long_text("the md " + "word " * 100_000),
            "headings.md": "".join(f"# The md heading {number}\ntext\n" for number in range(HEADINGS)),
            "outline.md": "".join(f"# Part {number}\ntext\n" for number in range(3000)),
            "keywords.md": make_indexed("# Keywords\nthe md\n", base=BaseLayer(keywords=keywords)),
            "failed.pdf": make_failed("password protected " * 40),
            "quotes.md": long_text("# Quotes\n" + '"\\"\n' * 50_000),
            "cjk.md": long_text("# 漢字\n" + "漢字の長い文章。" * 20_000),
        },
    )
    yield world
    world.catalogue.close()


def sizes(result: CallToolResult) -> tuple[int, int]:
    structure = result.structured_content
    dumped = json.dumps(structure, ensure_ascii=False, separators=(",", ":")) if structure is not None else ""
    return len(text_of(result).encode()), len(dumped.encode())


async def pages(client: Client, tool: str, arguments: dict[str, Any], *, cap: int = CAP) -> list[CallToolResult]:
    """Every page of an answer."""
    found = [await client.call_tool(tool, arguments)]
    while True:
        last = found[-1]
        assert not last.is_error, text_of(last)
        assert max(sizes(last)) <= cap, (tool, sizes(last))
        cursor = (last.structured_content or {}).get("cursor")
        assert (cursor is None) == ("cursor=" not in text_of(last))
        if cursor is None:
            return found
        assert f"cursor={cursor}" in text_of(last)
        found.append(await client.call_tool(tool, arguments | {"cursor": cursor}))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_cosmos", {}),
        ("search_docs", {"query": "the md", "limit": 25}),
        ("search_docs", {"query": "the md", "limit": 25, "detail": "full"}),
        ("search_docs", {"query": "the md", "limit": 25, "detail": "refs", "explain": True}),
        ("list_docs", {"limit": 200}),
        ("list_docs", {"limit": 200, "sort": "title", "state": "stale"}),
        ("list_docs", {"state": "failed"}),
        ("list_chapters", {"doc": "project-001::headings.md", "limit": 200}),
        ("list_chapters", {"name": "md heading", "limit": 200}),
        ("read_doc", {"doc": "project-001::long.md"}),
        ("read_doc", {"doc": "project-001::one-line.txt"}),
        ("read_doc", {"doc": "project-001::quotes.md"}),
        ("read_doc", {"doc": "project-001::cjk.md"}),
        ("read_doc", {"doc": "project-001::long.md", "lines": "5-80000"}),
        ("get_card", {"doc": "project-001::keywords.md"}),
        ("get_card", {"doc": "project-001::headings.md"}),
        ("get_card", {"doc": "project-001::failed.pdf"}),
        ("find_similar", {"doc": "project-001::keywords.md", "limit": 25}),
        ("reindex", {}),
    ],
)
async def test_no_answer_is_above_the_cap(flood: World, tool: str, arguments: dict[str, Any]) -> None:
    async with mcp_client(flood.app) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert 0 < max(sizes(result)) <= CAP


@pytest.mark.anyio
@pytest.mark.parametrize("max_tokens", [100, 500, 8000])
async def test_read_doc_keeps_to_the_size_that_was_asked_for(flood: World, max_tokens: int) -> None:
    async with mcp_client(flood.app) as client:
        for name in ("long.md", "quotes.md", "cjk.md"):
            result = await client.call_tool("read_doc", {"doc": f"project-001::{name}", "max_tokens": max_tokens})
            assert max(sizes(result)) <= max(max_tokens * 4, 1200)
        too_much = await client.call_tool("read_doc", {"doc": "project-001::long.md", "max_tokens": 9000})
    assert too_much.is_error and "8000" in text_of(too_much)


@pytest.mark.anyio
async def test_every_project_is_listed_once(flood: World) -> None:
    async with mcp_client(flood.app) as client:
        found = await pages(client, "get_cosmos", {})
    names = [row[0] for page in found for row in page.structured_content["projects"]["rows"]]
    assert names == [f"project-{number:03}" for number in range(PROJECTS)]


@pytest.mark.anyio
async def test_every_heading_is_listed_once(flood: World) -> None:
    async with mcp_client(flood.app) as client:
        found = await pages(client, "list_chapters", {"doc": "project-001::outline.md", "limit": 200})
    anchors = [row[0] for page in found for row in page.structured_content["rows"]]
    assert len(anchors) == len(set(anchors)) == 3000


@pytest.mark.anyio
async def test_a_long_text_is_read_whole_by_its_cursors(flood: World) -> None:
    async with mcp_client(flood.app) as client:
        for name in ("one-line.txt", "quotes.md", "cjk.md"):
            arguments = {"doc": f"project-001::{name}", "max_tokens": 8000}
            found = await pages(client, "read_doc", arguments, cap=4 * CAP)
            whole = "".join(page.structured_content["text"] for page in found)
            (document,) = (d for d in flood.catalogue.documents.in_project("project-001") if d.id.endswith(name))  # type: ignore[arg-type]
            assert whole == flood.catalogue.documents.text(document.pk)


@pytest.mark.anyio
async def test_every_keyword_is_shown_once(flood: World) -> None:
    async with mcp_client(flood.app) as client:
        found = await pages(client, "get_card", {"doc": "project-001::keywords.md"})
    keywords = [word for page in found for word in page.structured_content.get("keywords", [])]
    assert keywords == [f"keyword number {number}" for number in range(5000)]


@pytest.mark.anyio
async def test_each_document_is_listed_once_even_while_files_come_and_go(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.project("busy")
    stay = [f"stays/{number:04}.md" for number in range(300)]
    pks = world.add("busy", {path: f"# {path}\ntext\n" for path in stay})
    gone = world.add("busy", {f"goes/{number:04}.md": f"# {number}\nold\n" for number in range(300)})
    listed: list[str] = []
    async with mcp_client(world.app) as client:
        arguments: dict[str, Any] = {"limit": 40}
        for turn in range(100):
            page = (await client.call_tool("list_docs", arguments)).structured_content
            listed += [row[0] for row in page["rows"]]
            if "cursor" not in page:
                break
            arguments["cursor"] = page["cursor"]
            last = page["rows"][-1][0]  # the very document that the cursor points at goes too
            pk = next(d.pk for d in world.catalogue.documents.in_project("busy") if d.id == last)  # type: ignore[arg-type]
            vanishing = [*gone[turn * 25 : turn * 25 + 25], *([pk] if "stays" not in last else [])]
            world.catalogue.ingest.vanish("busy", vanishing)  # type: ignore[arg-type]
            world.add("busy", {f"a-new-one-{turn}-{number}.md": "# New\n" for number in range(10)})
    world.catalogue.close()
    assert pks
    assert len(listed) == len(set(listed))
    assert {f"busy::{path}" for path in stay} <= set(listed)


@pytest.mark.anyio
async def test_errors_do_not_echo_what_was_sent(flood: World) -> None:
    huge = "md " * 350_000
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_docs", {"query": huge}),
        ("search_docs", {"query": "x", "project": huge}),
        ("search_docs", {"query": "x", "project": "p" * 100}),
        ("search_docs", {huge: 1, "query": "x"}),
        ("search_docs", {"query": "x", "cursor": huge}),
        ("search_docs", {"query": "x", "cursor": "c" * 200}),
        ("read_doc", {"doc": "d" * 5000}),
        ("read_doc", {"doc": "project-001::" + "d" * 4900}),
        ("read_doc", {"doc": "project-001::headings.md", "section": "s" * 1000}),
        ("read_doc", {"doc": "project-001::long.md", "lines": "9" * 40}),
        ("update_card", {"doc": "project-001::long.md", "type": huge}),
        ("update_card", {"doc": "project-001::long.md", "date": huge}),
        ("update_card", {"cards": [{"doc": "x", f"field{number}": huge[:100]} for number in range(50)]}),
        ("list_docs", {"since": huge}),
    ]
    async with mcp_client(flood.app) as client:
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, text_of(result)[:200])
            assert len(text_of(result).encode()) <= 2000
            assert "md " * 100 not in text_of(result)


@pytest.mark.anyio
async def test_lists_of_the_protocol_stay_small(flood: World) -> None:
    async with mcp_client(flood.app) as client:
        assert (await client.list_resources()).resources == []
        assert len((await client.list_prompts()).prompts) == 1
        content = (await client.read_resource("armillary://project-001/long.md")).contents[0]
    assert len(content.text.encode()) <= 8000 * 4
    assert "Cut after line" in content.text and "read_doc(" in content.text


@pytest.mark.anyio
async def test_ten_hits_with_snippets_and_lines_take_at_most_one_and_a_half_kilobytes(world: World) -> None:
    snippet = "Erase the \x02medium\x03 before the tape is written again, and keep the old index for a week. " * 4
    passages = [
        Passage(
            document=DocumentId(f"handbook::operations/storage/tape-library-{number}.md"),
            chapter=ChapterId(f"handbook::operations/storage/tape-library-{number}.md#before-writing-again"),
            title="Tape library",
            heading_path=("Tape library", "Daily work", "Before writing again"),
            lines=(100 + number, 130 + number),
            page=None,
            start=0,
            end=100,
            text=snippet,
            snippet=snippet,
            score=0.9 - number / 100,
        )
        for number in range(10)
    ]

    async def search(query: Any, _: Any) -> Any:
        return answer_of(passages * 3, offset=query.offset, limit=query.limit)

    object.__setattr__(world.gateway, "search", search)
    async with mcp_client(world.app) as client:
        result = await client.call_tool("search_docs", {"query": "medium", "limit": 10})
    text = text_of(result)
    assert len(text.encode()) <= 1500
    for number, hit in enumerate(result.structured_content["hits"]):
        assert f"{passages[number].chapter} L{100 + number}-{130 + number}" in text
        assert hit["snippet"] in text and len(hit["snippet"]) >= 30
