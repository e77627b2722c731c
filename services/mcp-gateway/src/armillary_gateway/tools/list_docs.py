"""list_docs: cards in column form."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.card import Card
from armillary_core.domain.token import Right
from armillary_core.usecases.browse import DocsQuery
from armillary_gateway.answers import answer, columns, filled, fitting, table
from armillary_gateway.arguments import BLANK_IS_NONE, Cursor, Date, FolderPath, Locale, Project, Type, Version
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.quoting import NOTICE, Quoting, fenced
from armillary_gateway.tool import READS, Tool

_COLUMNS = ("id", "title", "type", "state", "date", "locale", "version", "summary")
_ANCHORS = 5  # documents of which one should still be there when the next page is asked for


class DocTable(TypedDict):
    total: int
    columns: list[str]
    rows: list[list[Any]]
    note: NotRequired[str]
    notice: NotRequired[str]
    cursor: NotRequired[str]


async def list_docs(
    ctx: Context[Gateway],
    project: Project = None,
    type: Type = None,
    state: Annotated[
        Literal["stale", "empty", "desync", "diverged", "failed"] | None,
        BLANK_IS_NONE,
        Field(description="stale = empty or stale"),
    ] = None,
    path: FolderPath = None,
    locale: Locale = None,
    version: Version = None,
    since: Date = None,
    until: Date = None,
    sort: Literal["path", "date", "title"] = "path",
    limit: Annotated[int, Field(ge=1, le=200, description="1 to 200")] = 50,
    cursor: Cursor = None,
) -> Annotated[CallToolResult, DocTable]:
    """List documents with their cards, in columns."""
    gateway, caller = gateway_of(ctx), current_caller()
    subject = "\0".join(map(str, (project, type, state, path, locale, version, since, until, sort)))
    place = gateway.cursors.open("list_docs", cursor, caller=caller.name, subject=subject)
    asked = DocsQuery(
        project=project,
        type=type,
        state=state,
        path=path,
        locale=locale,
        version=version,
        since=since,
        until=until,
        sort=sort,
        limit=limit,
        offset=place.offset,
        after=place.numbers[1:],
    )
    page = await run_sync(gateway.browse.docs, asked, caller)
    rows = [_row(card, gateway.quoting) for card in page.cards]
    shown = fitting((("\t".join(map(str, row)), row) for row in rows), cap=gateway.cap) if rows else 0
    names, kept = columns(_COLUMNS, rows[:shown])
    more: str | None = None
    if kept and (shown < len(rows) or not page.is_last):
        last = [card.document.pk for card in page.cards[:shown][-_ANCHORS:]]
        numbers = (place.offset + len(kept), *reversed(last))
        more = gateway.cursors.seal("list_docs", caller=caller.name, subject=subject, generation="", numbers=numbers)
    head = page.note or (f"{len(kept)} of {page.total} documents" if kept else f"No more: {page.total} documents.")
    parts = [head, *([fenced(table(names, kept))] if kept else []), *([f"more: cursor={more}"] if more else [])]
    structured = {
        "total": page.total,
        "columns": names if kept else [],
        "rows": kept,
        **filled(note=page.note, notice=NOTICE if kept else None, cursor=more),
    }
    return answer("\n".join(parts), structured)


def _row(card: Card, quoting: Quoting) -> list[Any]:
    return [
        str(card.id),
        quoting.line(card.document.title, 100),
        quoting.line(card.type, 60),
        " ".join(card.states),
        card.date or "",
        card.document.locale or "",
        card.document.version or "",
        quoting.line(card.summary, 120),
    ]


TOOL = Tool(list_docs, Right.READ, "List documents", READS)
