"""get_card: one card with copies, divergence and history."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.card import CardEvent
from armillary_core.domain.token import Right
from armillary_core.usecases.browse import CardView
from armillary_gateway.answers import answer, filled
from armillary_gateway.arguments import BLANK_IS_NONE, Doc
from armillary_gateway.auth import current_caller
from armillary_gateway.errors import cut_bytes
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.quoting import NOTICE, Quoting, fenced
from armillary_gateway.tool import READS, Tool

_PART = 1300  # bytes of one list (keywords, headings, copies) in one answer
_EVENTS = 5


class CardAnswer(TypedDict):
    id: str
    title: NotRequired[str]
    states: list[str]
    notice: NotRequired[str]
    type: NotRequired[str]
    summary: NotRequired[str]
    keywords: NotRequired[list[str]]
    headings: NotRequired[list[str]]
    date: NotRequired[str]
    hash: NotRequired[str]
    facts: NotRequired[dict[str, Any]]
    enriched: NotRequired[str]
    copies: NotRequired[list[str]]
    diverged_from: NotRequired[list[str]]
    history: NotRequired[list[str]]
    cursor: NotRequired[str]


async def get_card(
    ctx: Context[Gateway],
    doc: Doc,
    cursor: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=200, description="For the rest of long lists.")
    ] = None,
) -> Annotated[CallToolResult, CardAnswer]:
    """One document's card: summary, keywords, state, copies, divergence, history."""
    gateway, caller = gateway_of(ctx), current_caller()
    place = gateway.cursors.open("get_card", cursor, caller=caller.name, subject=doc)
    view = await run_sync(gateway.browse.card, doc, caller)
    generation = f"{view.card.document.pk}:{view.card.document.card_revision}:{view.card.document.content_revision}"
    place.check(generation)
    starts = place.numbers if len(place.numbers) == len(_LISTS) else (0,) * len(_LISTS)
    lists, ends, is_cut = _slices(view, starts, gateway.quoting)
    more: str | None = None
    if is_cut:
        more = gateway.cursors.seal("get_card", caller=caller.name, subject=doc, generation=generation, numbers=ends)
    return _rendered(view, lists, gateway.quoting, more, first=cursor is None)


_LISTS = ("keywords", "headings", "copies", "diverged_from")
_APART = ("notice", "history", "cursor")  # not a line each of the text


def _slices(
    view: CardView, starts: Sequence[int], quoting: Quoting
) -> tuple[dict[str, list[str]], tuple[int, ...], bool]:
    """The next stretch of every list, where each ends, and whether something is left."""
    card = view.card
    whole: dict[str, Sequence[str]] = {
        "keywords": card.keywords,
        "headings": card.headings,
        "copies": [str(copy.id) for copy in view.copies],
        "diverged_from": [str(former) for former in card.diverged_from],
    }
    lists: dict[str, list[str]] = {}
    ends: list[int] = []
    for name, start in zip(_LISTS, starts, strict=True):
        shown: list[str] = []
        used = 0
        for value in whole[name][start:]:
            text = quoting.line(value, 600)
            used += len(text.encode("utf-8", "replace")) + 4
            if shown and used > _PART:
                break
            shown.append(text)
        lists[name] = shown
        ends.append(start + len(shown))
    return lists, tuple(ends), any(end < len(whole[name]) for name, end in zip(_LISTS, ends, strict=True))


def _rendered(
    view: CardView, lists: dict[str, list[str]], quoting: Quoting, more: str | None, *, first: bool
) -> CallToolResult:
    card, document = view.card, view.card.document
    enrichment = card.enrichment
    enriched = ""
    if enrichment is not None:
        enriched = f"{_moment(enrichment.enriched_at)} by {quoting.line(enrichment.enriched_by, 64)}"
    facts = filled(
        media_type=document.media_type,
        language=document.language,
        locale=document.locale,
        version=document.version,
        bytes=document.stamp.size,
        lines=document.lines or None,
        chapters=view.chapters or None,
        extraction=None if document.state == "ok" else str(document.state),
        reason=quoting.line(document.reason, 300),
    )
    history = [_event(event, quoting) for event in view.history[:_EVENTS]]
    structured: dict[str, Any] = {
        "id": str(card.id),
        **filled(title=quoting.line(document.title, 200)),
        "states": [str(state) for state in card.states],
        "notice": NOTICE,
        **filled(
            type=quoting.line(card.type, 60),
            summary=cut_bytes(quoting.passage(card.summary or ""), 1500) if first else None,
            keywords=lists["keywords"],
            headings=lists["headings"],
            date=card.date,
            hash=(document.content_hash or "")[:16],
            facts=facts if first else None,
            enriched=enriched,
            copies=lists["copies"],
            diverged_from=lists["diverged_from"],
            history=history if first else None,
            cursor=more,
        ),
    }
    lines = [f"{name}: {_text(value)}" for name, value in structured.items() if name not in _APART]
    if "history" in structured:
        lines += ["history, newest first:", *(f"  {event}" for event in history)]
    parts = [fenced("\n".join(lines)), *([f"lists are cut; more: cursor={more}"] if more else [])]
    return answer("\n".join(parts), structured)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


def _event(event: CardEvent, quoting: Quoting) -> str:
    changes = "; ".join(f"{field}={quoting.line(_text(value), 80)}" for field, value in event.change.items())
    return cut_bytes(f"{_moment(event.at)} {quoting.line(event.by, 64)}: {changes}", 300)


def _moment(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%d %H:%M")


TOOL = Tool(get_card, Right.READ, "Get a card", READS)
