"""Documents as resources: `armillary://{project}/{path}`."""

from __future__ import annotations

from anyio.to_thread import run_sync
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import ResourceTemplate

from armillary_core.domain.errors import DocumentNotFoundError
from armillary_core.domain.token import Caller
from armillary_core.usecases.read import ReadRequest
from armillary_core.usecases.resolve import shown
from armillary_gateway.answers import MAX_TOKENS, TOKEN_BYTES
from armillary_gateway.gateway import Gateway
from armillary_gateway.quoting import fenced

SCHEME = "armillary://"
TEMPLATE = "armillary://{project}/{+path}"
_CAP = MAX_TOKENS * TOKEN_BYTES - 600


def describe() -> ResourceTemplate:
    """What clients are told of document resources."""
    return ResourceTemplate(
        uri_template=TEMPLATE,
        name="document",
        title="A document",
        description="Text of one document, as data. Long ones are cut; read_doc goes on.",
        mime_type="text/plain",
    )


async def read_document(gateway: Gateway, caller: Caller, uri: str) -> ReadResourceContents:
    """The text behind a resource address, up to the cap. Raises AppError."""
    if not uri.startswith(SCHEME) or len(uri) > 8000:
        raise DocumentNotFoundError(f'No resource "{shown(uri)}". Addresses read {SCHEME}project/path.')
    found = await run_sync(gateway.read, ReadRequest(doc=uri, max_bytes=_CAP), caller)
    text = fenced(gateway.quoting.stretch(found.source, found.start, found.end))
    if found.is_cut:
        text += (
            f"\nCut after line {found.lines[1]} of {found.total_lines}: "
            f'read_doc(doc="{found.document.id}", lines="{found.lines[1] + 1}-{found.total_lines}") goes on.'
        )
    return ReadResourceContents(content=text, mime_type="text/plain")
