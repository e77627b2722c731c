"""A small MCP client: one tool call over HTTP to the process that owns the engines."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from armillary_core.domain.errors import AccessDeniedError, AppError, BackendUnavailableError, error_of

_REVISION = "2026-07-28"
_ERROR_META = "armillary/error"


class ToolRefusedError(AppError):
    """The server answered with an error that this client does not know; its words say what is wrong."""

    code = "tool_refused"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    text: str
    structured: dict[str, Any]


def call_tool(url: str, name: str, arguments: dict[str, Any], *, timeout_seconds: float = 60.0) -> ToolAnswer:
    """Call one tool. Raises the error that the tool refused with, and AccessDeniedError, BackendUnavailableError."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": name,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": _REVISION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "armillary-cli", "version": "1"},
            },
        },
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": _REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    if token := os.environ.get("ARMILLARY_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    message = _post(url, json.dumps(body).encode(), headers, timeout_seconds)
    if "error" in message:
        raise ToolRefusedError(str(message["error"].get("message", "the server refused the call")))
    result = message.get("result", {})
    text = "\n".join(part.get("text", "") for part in result.get("content", []) if part.get("type") == "text")
    if result.get("isError"):
        refused = result.get("_meta", {}).get(_ERROR_META, {})
        kind = error_of(refused.get("code", ""))
        raise (
            kind(refused["message"]) if kind else ToolRefusedError(text.removeprefix(f"Error executing tool {name}: "))
        )
    return ToolAnswer(text, result.get("structuredContent") or {})


def is_alive(url: str, *, timeout_seconds: float = 2.0) -> bool:
    """Whether the server at this address says that it lives."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_seconds)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _post(url: str, body: bytes, headers: dict[str, str], timeout_seconds: float) -> dict[str, Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_seconds)
    try:
        connection.request("POST", "/mcp", body, headers)
        response = connection.getresponse()
        if response.status in (401, 403):
            raise AccessDeniedError(
                f"The server at {url} wants a token: set ARMILLARY_TOKEN to one made by `armillary tokens create`."
            )
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            return next(message for message in _events(response) if "result" in message or "error" in message)
        answer: dict[str, Any] = json.loads(response.read())
        return answer
    except TimeoutError:
        raise BackendUnavailableError(f"The server at {url} did not answer in {timeout_seconds:.0f} seconds.") from None
    except (OSError, http.client.HTTPException) as failed:
        raise BackendUnavailableError(f"The server at {url} does not answer ({failed}).") from None
    except (ValueError, StopIteration):
        raise BackendUnavailableError(f"The server at {url} does not speak MCP.") from None
    finally:
        connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    data: list[str] = []
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].lstrip())
        elif not line and data:
            yield json.loads("\n".join(data))
            data.clear()
