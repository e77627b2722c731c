"""What a tool is: a function, the right it needs, and what it tells clients about itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.types import CallToolResult, ToolAnnotations

from armillary_core.domain.token import Right

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
CLEARS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """The function's name is the tool's, its docstring the description, its parameters the input schema and its
    return type the output schema."""

    run: Callable[..., Awaitable[CallToolResult]]
    right: Right
    title: str
    annotations: ToolAnnotations

    @property
    def name(self) -> str:
        return str(getattr(self.run, "__name__"))  # noqa: B009 - a Callable need not have one, for the type checker

    def describe(self) -> dict[str, Any]:
        """The arguments of MCPServer.add_tool."""
        return {"fn": self.run, "name": self.name, "title": self.title, "annotations": self.annotations}
