"""update_card: what an agent adds to a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from armillary_core.domain.card import CardChange
from armillary_core.domain.errors import InvalidRequestError
from armillary_core.domain.token import Right
from armillary_core.usecases.enrich import MAX_BATCH, CardWrite, CardWritten
from armillary_gateway.answers import answer, filled, fitting
from armillary_gateway.arguments import BLANK_IS_NONE
from armillary_gateway.auth import current_caller
from armillary_gateway.errors import words
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.tool import WRITES, Tool


class CardFields(BaseModel):
    model_config = ConfigDict(extra="forbid")

    doc: Annotated[str, Field(min_length=1, max_length=5000)]
    type: str | None = None
    summary: str | None = None
    keywords: list[str] | None = None
    headings: list[str] | None = None
    date: str | None = None
    if_hash: str | None = None


class Written(TypedDict):
    id: str
    ok: bool
    states: NotRequired[list[str]]
    hash: NotRequired[str]
    error: NotRequired[str]


class WrittenCards(TypedDict):
    written: int
    refused: int
    cards: list[Written]
    note: NotRequired[str]


async def update_card(
    ctx: Context[Gateway],
    doc: Annotated[str | None, BLANK_IS_NONE, Field(max_length=5000, description="Document id.")] = None,
    type: Annotated[str | None, Field(description="One of get_cosmos, when it lists some.")] = None,
    summary: Annotated[str | None, Field(description="Two or three sentences, at most 4000 characters.")] = None,
    keywords: Annotated[list[str] | None, Field(description="At most 200.")] = None,
    headings: Annotated[list[str] | None, Field(description="At most 200.")] = None,
    date: Annotated[str | None, Field(description="YYYY-MM-DD")] = None,
    if_hash: Annotated[
        str | None, BLANK_IS_NONE, Field(description="hash from read_doc: refuse when the file changed.")
    ] = None,
    cards: Annotated[
        list[CardFields] | None, Field(max_length=MAX_BATCH, description="Several cards at once, at most 50.")
    ] = None,
) -> Annotated[CallToolResult, WrittenCards]:
    """Write a card, or several. Only passed fields change; an empty value clears one."""
    gateway, caller = gateway_of(ctx), current_caller()
    single = CardFields.model_construct(
        doc=doc or "", type=type, summary=summary, keywords=keywords, headings=headings, date=date, if_hash=if_hash
    )
    if cards is not None:
        if any(value for value in (doc, type, summary, keywords, headings, date, if_hash)):
            raise InvalidRequestError("Give either doc with its fields or cards, not both.")
        results = await run_sync(gateway.enrich.update_many, [_write(card) for card in cards], caller)
    elif doc is None:
        raise InvalidRequestError("Give doc and the fields to write, or cards.")
    else:
        results = [CardWritten(doc, card=await run_sync(gateway.enrich.update, _write(single), caller))]
    return _rendered(results, gateway.cap)


def _write(card: CardFields) -> CardWrite:
    change = CardChange(
        type=card.type,
        summary=card.summary,
        keywords=None if card.keywords is None else tuple(card.keywords),
        headings=None if card.headings is None else tuple(card.headings),
        date=card.date,
    )
    return CardWrite(card.doc, change, card.if_hash)


def _rendered(results: Sequence[CardWritten], cap: int) -> CallToolResult:
    rows = [_row(result) for result in results]
    written = sum(1 for row in rows if row["ok"])
    rows.sort(key=lambda row: row["ok"])  # what was refused comes first, so that a cut hides no refusal
    lines = [_line(row) for row in rows]
    shown = fitting(zip(lines, rows, strict=True), cap=cap)
    note = f"{len(rows) - shown} further cards were written and are not listed." if shown < len(rows) else ""
    head = f"{written} written, {len(rows) - written} refused"
    return answer(
        "\n".join([head, *lines[:shown], *([note] if note else [])]),
        {"written": written, "refused": len(rows) - written, "cards": rows[:shown], **filled(note=note)},
    )


def _row(result: CardWritten) -> dict[str, Any]:
    if result.card is None:
        return {"id": result.doc[:200], "ok": False, **filled(error=words(result.error) if result.error else "")}
    return {
        "id": str(result.card.id),
        "ok": True,
        "states": [str(state) for state in result.card.states],
        **filled(hash=(result.card.document.content_hash or "")[:16]),
    }


def _line(row: dict[str, Any]) -> str:
    if not row["ok"]:
        return f"refused {row['id']}: {row.get('error', '')}"
    return f"written {row['id']} [{' '.join(row['states'])}] hash {row.get('hash', '-')}"


TOOL = Tool(update_card, Right.ENRICH, "Write cards", WRITES)
