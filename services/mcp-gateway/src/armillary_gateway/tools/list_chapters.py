"""list_chapters: the outline of one document, or chapters by name."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.token import Right
from armillary_core.usecases.browse import FoundChapter
from armillary_gateway.answers import answer, columns, filled, fitting, table
from armillary_gateway.arguments import BLANK_IS_NONE, Cursor, Project
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.quoting import NOTICE, Quoting, fenced
from armillary_gateway.tool import READS, Tool

_OUTLINE = ("anchor", "level", "name", "kind", "lines", "page")
_FOUND = ("id", "path", "kind", "lines", "page")


class ChapterTable(TypedDict):
    total: int
    doc: NotRequired[str]
    columns: list[str]
    rows: list[list[Any]]
    note: NotRequired[str]
    notice: NotRequired[str]
    cursor: NotRequired[str]


async def list_chapters(
    ctx: Context[Gateway],
    doc: Annotated[str | None, BLANK_IS_NONE, Field(max_length=5000, description="Document id: its outline.")] = None,
    project: Project = None,
    name: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=300, description="Part of a heading or symbol.")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="1 to 200")] = 50,
    cursor: Cursor = None,
) -> Annotated[CallToolResult, ChapterTable]:
    """Outline of one document (doc), or chapters by name over all; read_doc(doc#anchor) reads one."""
    gateway, caller = gateway_of(ctx), current_caller()
    subject = "\0".join(map(str, (doc, project, name)))
    place = gateway.cursors.open("list_chapters", cursor, caller=caller.name, subject=subject)
    page = await run_sync(
        partial(gateway.browse.chapters, caller, doc=doc, project=project, name=name, limit=limit, offset=place.offset)
    )
    generation = str(page.revision)
    place.check(generation)
    row = _outline_row if doc is not None else _found_row
    rows = [row(found, gateway.quoting) for found in page.chapters]
    shown = fitting((("\t".join(map(str, cells)), cells) for cells in rows), cap=gateway.cap) if rows else 0
    names, kept = columns(_OUTLINE if doc is not None else _FOUND, rows[:shown])
    done = page.offset + len(kept)
    more: str | None = None
    if kept and done < page.total:
        more = gateway.cursors.seal(
            "list_chapters", caller=caller.name, subject=subject, generation=generation, numbers=(done,)
        )
    of = str(page.chapters[0].document.id) if doc is not None and page.chapters else None
    head = page.note or f"{len(kept)} of {page.total} chapters" + (f" of {of}" if of else "")
    parts = [head, *([fenced(table(names, kept))] if kept else []), *([f"more: cursor={more}"] if more else [])]
    structured = {
        "total": page.total,
        **filled(doc=of),
        "columns": names if kept else [],
        "rows": kept,
        **filled(note=page.note, notice=NOTICE if kept else None, cursor=more),
    }
    return answer("\n".join(parts), structured)


def _outline_row(found: FoundChapter, quoting: Quoting) -> list[Any]:
    chapter = found.chapter
    return [
        f"#{chapter.anchor}",
        chapter.level,
        quoting.line(chapter.name, 200),
        str(chapter.kind),
        f"{chapter.start_line}-{chapter.end_line}",
        chapter.page,
    ]


def _found_row(found: FoundChapter, quoting: Quoting) -> list[Any]:
    chapter = found.chapter
    return [
        f"{found.document.id}#{chapter.anchor}",
        quoting.line(" > ".join(chapter.path), 300),
        str(chapter.kind),
        f"{chapter.start_line}-{chapter.end_line}",
        chapter.page,
    ]


TOOL = Tool(list_chapters, Right.READ, "List chapters", READS)
