"""Every tool, in the order in which clients list them."""

from __future__ import annotations

from armillary_gateway.tool import Tool
from armillary_gateway.tools import (
    accept_divergence,
    find_similar,
    get_card,
    get_cosmos,
    list_chapters,
    list_docs,
    read_doc,
    reindex,
    search_docs,
    update_card,
)

TOOLS: tuple[Tool, ...] = (
    get_cosmos.TOOL,
    search_docs.TOOL,
    read_doc.TOOL,
    list_docs.TOOL,
    list_chapters.TOOL,
    get_card.TOOL,
    find_similar.TOOL,
    update_card.TOOL,
    accept_divergence.TOOL,
    reindex.TOOL,
)
