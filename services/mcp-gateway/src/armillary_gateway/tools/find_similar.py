"""find_similar: documents close in meaning to one."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from armillary_core.domain.query import Detail
from armillary_core.domain.token import Right
from armillary_gateway.answers import fitting, size
from armillary_gateway.arguments import Doc, Project
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.tool import READS, Tool
from armillary_gateway.tools.search_docs import Hits, hits_of, line_of, rendered, status_of


async def find_similar(
    ctx: Context[Gateway],
    doc: Doc,
    project: Project = None,
    limit: Annotated[int, Field(ge=1, le=25, description="1 to 25")] = 5,
) -> Annotated[CallToolResult, Hits]:
    """Other documents close in meaning to one; its copies are left out."""
    gateway, caller = gateway_of(ctx), current_caller()
    found = await gateway.find_similar(doc, caller, project=project, limit=limit)
    status = status_of(found, gateway.quoting)
    hits = hits_of(found.passages, Detail.SNIPPETS, gateway.quoting, used=size(status))
    lines = [line_of(hit) for hit in hits]
    shown = fitting(zip(lines, hits, strict=True), cap=gateway.cap, text_used=size(status), structure_used=size(status))
    if shown < len(hits):
        status += f"; {len(hits) - shown} more did not fit: name a project, or ask with a lower limit"
    return rendered(status, hits[:shown], lines[:shown], total=len(found.passages), is_relevant=found.relevant)


TOOL = Tool(find_similar, Right.READ, "Find similar documents", READS)
