"""The thin bridge: MCP over stdin and stdout, forwarded to a running server over HTTP.

It knows of the protocol only what the transport needs: which headers a message wants and how an answer is framed.
Few imports on purpose, since every client starts one of these.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from typing import Any, BinaryIO

from armillary_cli.stdio_http import NOT_REACHED, HttpServer, UnreachableError

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_DRAIN_SECONDS = 10.0


async def run_bridge(
    url: str, token: str | None = None, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None
) -> None:
    """Forward every line of stdin to `url` until stdin ends; answers go to stdout, a line each, in any order."""
    bridge = Bridge(url, token, stdout or sys.stdout.buffer)
    lines = _lines_of(stdin or sys.stdin.buffer)
    try:
        while (line := await lines.get()) is not None:
            bridge.accept(line)
        await bridge.drain()
    finally:
        await bridge.close()


def _lines_of(stdin: BinaryIO) -> asyncio.Queue[bytes | None]:
    """Lines as they come, None at the end; a thread reads, since pipes, files and terminals all block differently."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody listens any more
            try:
                while line := stdin.readline():
                    loop.call_soon_threadsafe(lines.put_nowait, line)
            except (OSError, ValueError):
                pass
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    return lines


class Bridge:
    """One client's messages on their way to the server."""

    def __init__(self, url: str, token: str | None, stdout: BinaryIO) -> None:
        self._server = HttpServer(url, token)
        self._stdout = stdout
        self._version: str | None = None  # of the handshake era; later revisions say theirs in every message
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._handshake: asyncio.Task[None] | None = None

    def accept(self, line: bytes) -> None:
        """Begin forwarding one line; calls overlap, messages after a handshake wait for it."""
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except ValueError:
            self._write_error(None, -32700, "Parse error: a line of input was not JSON.")
            return
        if not isinstance(message, dict):
            self._write_error(None, -32600, "Every line must be one JSON-RPC message; batches are not spoken.")
            return
        method = message.get("method")
        if method == "notifications/cancelled":
            self._cancel(message.get("params"))
            return
        task = asyncio.create_task(self._forward(message, line.strip(), after=self._handshake))
        if method == "initialize":
            self._handshake = task
        if "id" in message and method is not None:
            key = json.dumps(message["id"])
            self._calls[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
        else:
            self._others.add(task)
            task.add_done_callback(self._others.discard)

    async def drain(self) -> None:
        """Wait a while for the answers that are still to come."""
        waiting = [*self._calls.values(), *self._others]
        if waiting:
            await asyncio.wait(waiting, timeout=_DRAIN_SECONDS)

    async def close(self) -> None:
        for task in (*self._calls.values(), *self._others):
            task.cancel()
        await asyncio.gather(*self._calls.values(), *self._others, return_exceptions=True)
        self._server.close()

    def _forget(self, key: str, done: asyncio.Task[None]) -> None:
        if self._calls.get(key) is done:
            del self._calls[key]

    def _cancel(self, params: Any) -> None:
        """The server keeps no session, so a call is cancelled by hanging up; the client expects no answer."""
        if isinstance(params, dict) and (task := self._calls.get(json.dumps(params.get("requestId")))) is not None:
            task.cancel()

    async def _forward(self, message: dict[str, Any], body: bytes, *, after: asyncio.Task[None] | None) -> None:
        if after is not None and not after.done():
            await asyncio.wait([after])
        wants_answer = "id" in message and "method" in message
        answered = False
        try:
            async with self._server.post(body, self._headers(message)) as answer:
                async for part in answer.messages():
                    answered = self._deliver(message, part) or answered
                if wants_answer and not answered:
                    self._write_error(message["id"], *answer.complaint())
        except UnreachableError as error:
            if wants_answer and not answered:
                self._write_error(message["id"], NOT_REACHED, str(error))

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        headers: dict[str, str] = {}
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        method = message.get("method")
        if isinstance(version, str):
            headers["MCP-Protocol-Version"] = version
            if isinstance(method, str):
                headers["Mcp-Method"] = method
                name = params.get(_NAMED.get(method, ""))
                if isinstance(name, str):
                    headers["Mcp-Name"] = name
        elif self._version is not None and method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _deliver(self, message: dict[str, Any], part: bytes) -> bool:
        """Write one message of the server; True when it is the answer that was waited for."""
        try:
            parsed = json.loads(part)
        except ValueError:
            return False
        if not isinstance(parsed, dict) or parsed.get("jsonrpc") != "2.0":
            return False
        is_answer = "result" in parsed or "error" in parsed
        if is_answer and message.get("method") == "initialize" and isinstance(parsed.get("result"), dict):
            self._version = str(parsed["result"].get("protocolVersion"))
        lacks_id = is_answer and parsed.get("id") is None and "id" in message
        if lacks_id:  # refused before the server could tell which call it was
            parsed["id"] = message["id"]
        if lacks_id or b"\n" in part or b"\r" in part:
            part = json.dumps(parsed, separators=(",", ":")).encode()
        self._write(part)
        return is_answer

    def _write_error(self, message_id: Any, code: int, text: str) -> None:
        error = {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}}
        self._write(json.dumps(error, separators=(",", ":")).encode())

    def _write(self, part: bytes) -> None:
        self._stdout.write(part + b"\n")
        self._stdout.flush()
