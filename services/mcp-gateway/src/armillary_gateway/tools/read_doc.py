"""read_doc: text, never past the cap."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.token import Caller, Right
from armillary_core.usecases.read import ReadAnswer, ReadRequest
from armillary_gateway.answers import MAX_TOKENS, TOKEN_BYTES, answer, filled, size
from armillary_gateway.arguments import BLANK_IS_NONE
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.quoting import NOTICE, fenced
from armillary_gateway.tool import READS, Tool

_FRAME = 900  # bytes around the text: id, lines, notes, fence, cursor


class Reading(TypedDict):
    id: str
    title: NotRequired[str]
    heading: NotRequired[str]
    lines: str
    total_lines: int
    page: NotRequired[int]
    hash: NotRequired[str]
    notes: NotRequired[list[str]]
    notice: NotRequired[str]
    text: str
    cursor: NotRequired[str]


async def read_doc(
    ctx: Context[Gateway],
    doc: Annotated[str, Field(min_length=1, max_length=5000, description="Document or chapter id from a result.")],
    section: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=1000, description="Anchor, heading, or path A > B.")
    ] = None,
    subsections: Annotated[bool, Field(description="With sub-chapters.")] = True,
    lines: Annotated[str | None, BLANK_IS_NONE, Field(max_length=40, description="a-b")] = None,
    page: Annotated[int | None, Field(ge=1, description="From 1.")] = None,
    max_tokens: Annotated[int | None, Field(ge=100, le=MAX_TOKENS, description="100 to 8000; usually 2000")] = None,
    cursor: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=200, description="From the last answer, with the same doc.")
    ] = None,
) -> Annotated[CallToolResult, Reading]:
    """Read a document, or a part: chapter, section, lines or page. What does not fit follows with cursor."""
    gateway, caller = gateway_of(ctx), current_caller()
    place = gateway.cursors.open("read_doc", cursor, caller=caller.name, subject=doc)
    goes_on = len(place.numbers) == 2
    request = ReadRequest(
        doc=doc,
        section=None if goes_on else section,
        subsections=subsections,
        lines=None if goes_on else lines,
        page=None if goes_on else page,
        start=place.numbers[0] if goes_on else None,
        end=place.numbers[1] if goes_on else None,
    )
    policy = gateway.policy
    cap = min(max_tokens or policy.answer_tokens, policy.max_answer_tokens) * TOKEN_BYTES
    room = max(cap - _FRAME, 200)
    found, text = await run_sync(_fitting, gateway, request, caller, room)
    place.check(_generation(found))
    more: str | None = None
    if found.is_cut:
        more = gateway.cursors.seal(
            "read_doc",
            caller=caller.name,
            subject=doc,
            generation=_generation(found),
            numbers=(found.end, found.until),
        )
    return _rendered(found, text, gateway, more)


def _fitting(gateway: Gateway, request: ReadRequest, caller: Caller, room: int) -> tuple[ReadAnswer, str]:
    """As much as fits, counted as JSON, where line ends and quotes take two bytes."""
    max_bytes = room
    while True:
        found = gateway.read(replace(request, max_bytes=max_bytes), caller)
        text = gateway.quoting.stretch(found.source, found.start, found.end)
        used = size([text])
        if used <= room or max_bytes <= 64:
            return found, text
        max_bytes = max(64, min(max_bytes * room // used, max_bytes - 64))


def _generation(found: ReadAnswer) -> str:
    return f"{found.document.pk}:{found.document.content_revision}"


def _rendered(found: ReadAnswer, text: str, gateway: Gateway, more: str | None) -> CallToolResult:
    document, quoting = found.document, gateway.quoting
    identity = f"{document.id}#{found.chapter.anchor}" if found.chapter is not None else str(document.id)
    notes = [quoting.line(note, 300) for note in (*found.notes, document.reason or "") if note]
    heading = quoting.line(" > ".join(found.chapter.path), 200) if found.chapter is not None else ""
    structured: dict[str, Any] = {
        "id": identity,
        **filled(title=quoting.line(document.title, 200), heading=heading),
        "lines": f"{found.lines[0]}-{found.lines[1]}",
        "total_lines": found.total_lines,
        **filled(page=found.page, hash=(document.content_hash or "")[:16], notes=notes, notice=NOTICE),
        "text": text,
        **filled(cursor=more),
    }
    head = [
        f"{identity} L{structured['lines']} of {found.total_lines}",
        f"p.{found.page}" if found.page is not None else "",
        f"title: {structured['title']}" if "title" in structured else "",
        f"heading: {heading}" if heading else "",
        f"hash: {structured['hash']}" if "hash" in structured else "",
    ]
    parts = ["; ".join(part for part in head if part), *notes, fenced(text)]
    if more:
        parts.append(f"cut here, {found.until - found.end} characters follow: cursor={more}")
    return answer("\n".join(parts), structured)


TOOL = Tool(read_doc, Right.READ, "Read a document", READS)
