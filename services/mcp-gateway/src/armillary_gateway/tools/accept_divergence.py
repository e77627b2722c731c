"""accept_divergence: a document may differ from its former copies from now on."""

from __future__ import annotations

from typing import Annotated, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from typing_extensions import TypedDict

from armillary_core.domain.token import Right
from armillary_gateway.answers import answer, filled
from armillary_gateway.arguments import Doc
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.tool import WRITES, Tool

_LISTED = 20


class Accepted(TypedDict):
    id: str
    cleared: NotRequired[list[str]]
    more: NotRequired[int]


async def accept_divergence(ctx: Context[Gateway], doc: Doc) -> Annotated[CallToolResult, Accepted]:
    """Accept that a document differs from its former copies; says which flags it cleared."""
    gateway, caller = gateway_of(ctx), current_caller()
    document, former = await run_sync(gateway.enrich.accept_divergence, doc, caller)
    cleared = [str(other.id) for other in former[:_LISTED]]
    more = len(former) - len(cleared)
    rest = f" and {more} more" if more else ""
    text = f"{document.id}: divergence accepted" + (f" from {', '.join(cleared)}{rest}" if cleared else "")
    return answer(text, {"id": str(document.id), **filled(cleared=cleared, more=more or None)})


TOOL = Tool(accept_divergence, Right.ENRICH, "Accept a divergence", WRITES)
