"""The MCP server itself: strict arguments, lean schemas, tools by right, errors in words."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog
from mcp.server import CacheHint, MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, InputRequiredResult, ResourceTemplate
from mcp.types import Tool as ListedTool
from pydantic import ValidationError
from typing_extensions import override

from armillary_core.domain.errors import AppError, InvalidRequestError
from armillary_core.usecases.resolve import shown
from armillary_gateway.answers import refusal
from armillary_gateway.auth import current_caller
from armillary_gateway.errors import MAX_BYTES, cut_bytes, words
from armillary_gateway.gateway import Gateway
from armillary_gateway.prompts import enrich_index
from armillary_gateway.resources import describe, read_document
from armillary_gateway.schemas import lean
from armillary_gateway.tool import Tool

log = structlog.get_logger("armillary.gateway")

_PRIVATE_HINT = CacheHint(ttl_ms=60_000, scope="private")


class AgentServer(MCPServer[Gateway]):
    """A caller sees and may call the tools that its rights allow; others do not exist for it."""

    def __init__(self, gateway: Gateway, tools: Sequence[Tool], *, instructions: str, version: str) -> None:
        @asynccontextmanager
        async def lifespan(_: MCPServer[Gateway]) -> Any:
            yield gateway

        super().__init__(
            "armillary",
            title="Armillary",
            instructions=instructions,
            version=version,
            lifespan=lifespan,
            log_level="WARNING",
            cache_hints={"tools/list": _PRIVATE_HINT, "prompts/list": _PRIVATE_HINT},
        )
        self._gateway = gateway
        self._own_tools = {tool.name: tool for tool in tools}
        self._listed: dict[str, ListedTool] = {}
        for tool in tools:
            self.add_tool(**tool.describe())
        self.prompt(title="Enrich the index")(enrich_index)

    @override
    async def list_tools(self) -> list[ListedTool]:
        caller = current_caller()
        listed = await self._all_listed()
        return [listed[name] for name, tool in self._own_tools.items() if caller.may(tool.right)]

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Gateway, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        caller = current_caller()
        tool = self._own_tools.get(name)
        if tool is None or not caller.may(tool.right):
            # A result, not a protocol error: clients show the latter to nobody who could choose another tool.
            known = ", ".join(known for known, own in self._own_tools.items() if caller.may(own.right))
            return refusal(f"Unknown tool: {shown(name, 60)}. Tools: {known}.")
        started = time.perf_counter()
        outcome, result = await self._run(tool, arguments, context)
        seconds = time.perf_counter() - started
        self._gateway.metrics.called(name, outcome, seconds)
        log.info("tool.called", tool=name, caller=caller.name, outcome=outcome, duration_ms=round(seconds * 1000, 1))
        return result

    @override
    async def list_resource_templates(self) -> list[ResourceTemplate]:
        return [describe()]

    @override
    async def read_resource(
        self, uri: Any, context: Context[Gateway, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        try:
            return [await read_document(self._gateway, current_caller(), str(uri))]
        except AppError as error:
            data = {"uri": shown(str(uri), 200)}
            raise MCPError(code=INVALID_PARAMS, message=words(error), data=data) from error
        except Exception as error:
            raise MCPError(code=INTERNAL_ERROR, message=_logged("resource.failed", error)) from error

    async def _all_listed(self) -> dict[str, ListedTool]:
        if not self._listed:
            for listed in await super().list_tools():
                listed.description = " ".join((listed.description or "").split())
                listed.input_schema = {**lean(listed.input_schema), "additionalProperties": False}
                if listed.output_schema is not None:
                    listed.output_schema = lean(listed.output_schema)
                self._listed[listed.name] = listed
        return self._listed

    async def _run(
        self, tool: Tool, arguments: dict[str, Any], context: Context[Gateway, Any] | None
    ) -> tuple[str, CallToolResult | InputRequiredResult]:
        accepted = (await self._all_listed())[tool.name].input_schema.get("properties", {})
        if unknown := sorted(set(arguments) - set(accepted)):
            named = ", ".join(shown(name, 60) for name in unknown[:5])
            return "refused", refusal(
                f"{tool.name} has no argument {named}. Accepted: {', '.join(accepted) or 'none'}."
            )
        try:
            return "ok", await super().call_tool(tool.name, arguments, context)
        except UnexpectedToolError as error:
            cause = error.__cause__
            if isinstance(cause, AppError):
                return "refused", refusal(words(cause), code=cause.code, message=cut_bytes(cause.message, MAX_BYTES))
            return "failed", refusal(_logged("tool.failed", cause or error, tool=tool.name))
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                problems = _problems(cause)
                text = f"{tool.name}: {problems}. Correct it and call again."
                return "refused", refusal(text, code=InvalidRequestError.code, message=f"{problems}.")
            return "refused", refusal(cut_bytes(str(error), 1000))


def _problems(error: ValidationError) -> str:
    found = [
        f"{shown('.'.join(map(str, problem['loc'])), 80) or 'arguments'}: {shown(problem['msg'], 160)}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def _logged(event: str, error: BaseException, **values: str) -> str:
    reference = secrets.token_hex(4)
    log.error(event, reference=reference, exc_info=error, **values)
    return f"Something went wrong inside the server (reference {reference} in its log). Do not retry unchanged."
