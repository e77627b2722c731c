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
from urllib.parse import SplitResult, urlsplit

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_CONNECT_TRIES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.5, 2.0, 2.0, 3.0)  # seconds to wait before each: a restart takes a moment
_DRAIN_SECONDS = 10.0
_LONGEST_LINE = 8 * 1024 * 1024
_NOT_REACHED, _INTERNAL = -32000, -32603


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
        self._server = _Server(url, token)
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
        except _UnreachableError as error:
            if wants_answer and not answered:
                self._write_error(message["id"], _NOT_REACHED, str(error))

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


class _UnreachableError(Exception):
    """The server did not answer; the text is for the person at the client."""


class _Server:
    """Keep-alive connections to one HTTP server."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url} is not an http or https address.")
        self._parts: SplitResult = parts
        self._idle: list[_Connection] = []
        fixed = {
            "Host": parts.netloc.rpartition("@")[2],
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",
            "User-Agent": "armillary-stdio",
        }
        if token:
            fixed["Authorization"] = f"Bearer {token}"
        self._fixed = fixed

    @contextlib.asynccontextmanager
    async def post(self, body: bytes, headers: dict[str, str]) -> Any:
        """The answer to one POST, sent again when the server went away before it answered."""
        request = self._request(body, headers)
        connection, answer = await self._exchange(request)
        finished = False
        try:
            yield answer
            finished = answer.is_complete
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
            raise _UnreachableError(f"The Armillary server at {self._url} broke off its answer. Try again.") from error
        finally:
            if finished and answer.keeps_alive:
                self._idle.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _request(self, body: bytes, headers: dict[str, str]) -> bytes:
        path = self._parts.path or "/"
        if self._parts.query:
            path += "?" + self._parts.query
        lines = [f"POST {path} HTTP/1.1"]
        lines += [f"{name}: {_header_value(value)}" for name, value in (self._fixed | headers).items()]
        lines += [f"Content-Length: {len(body)}", "", ""]
        return "\r\n".join(lines).encode("latin-1") + body

    async def _exchange(self, request: bytes) -> tuple[_Connection, _Answer]:
        problem: BaseException | None = None
        while self._idle:  # an idle connection may have been closed by a restart
            connection = self._idle.pop()
            try:
                return connection, await connection.send(request)
            except (OSError, EOFError, ValueError) as error:
                problem = error
                connection.close()
        for pause in _CONNECT_TRIES:
            await asyncio.sleep(pause)
            try:
                connection = await self._connect()
            except OSError as error:
                problem = error
                continue
            try:
                return connection, await connection.send(request)
            except (OSError, EOFError, ValueError) as error:
                problem = error
                connection.close()
            except BaseException:
                connection.close()
                raise
        raise _UnreachableError(
            f"The Armillary server at {self._url} does not answer ({problem}). `armillary status` says why."
        )

    async def _connect(self) -> _Connection:
        host, port = self._parts.hostname, self._parts.port
        secure: Any = None
        if self._parts.scheme == "https":
            import ssl

            secure = ssl.create_default_context()
        reader, writer = await asyncio.open_connection(
            host, port or (443 if secure else 80), ssl=secure, limit=_LONGEST_LINE
        )
        return _Connection(reader, writer)


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: bytes) -> _Answer:
        """Send, and read the head of the answer. Raises OSError or EOFError when the server went away."""
        self._writer.write(request)
        await self._writer.drain()
        status_line = (await self._reader.readuntil(b"\r\n")).decode("latin-1")
        parts = status_line.split(None, 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise ValueError("that is not an HTTP server")
        headers: dict[str, str] = {}
        while (line := await self._reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return _Answer(int(parts[1]), headers, self._reader)

    def close(self) -> None:
        self._writer.close()


class _Answer:
    """One HTTP answer: a JSON body or a stream of events."""

    def __init__(self, status: int, headers: dict[str, str], reader: asyncio.StreamReader) -> None:
        self.status = status
        self.is_complete = False
        self.keeps_alive = headers.get("connection", "").lower() != "close"
        self._headers = headers
        self._reader = reader
        self._rest = b""

    async def messages(self) -> Any:
        """JSON texts, in order."""
        if self._headers.get("content-type", "").startswith("text/event-stream"):
            async for data in self._events():
                yield data
            return
        body = b"".join([part async for part in self._parts()])
        self._rest = body
        if body.strip():
            yield body.strip()

    def complaint(self) -> tuple[int, str]:
        """What to tell the client when there was no answer in the body."""
        try:
            said = str(json.loads(self._rest).get("error_description") or "")
        except (ValueError, AttributeError):
            said = ""
        if self.status == 401:
            return _NOT_REACHED, f"The server refused the token. {said}".strip()
        return _INTERNAL, f"The server answered with HTTP {self.status}. {said}".strip()

    async def _events(self) -> Any:
        buffer = b""
        data: list[bytes] = []
        async for part in self._parts():
            buffer += part
            *lines, buffer = buffer.split(b"\n")
            for raw in lines:
                line = raw.rstrip(b"\r")
                if line.startswith(b"data:"):
                    data.append(line[5:].removeprefix(b" "))
                elif not line and data:
                    yield b"\n".join(data)
                    data = []
        if data:
            yield b"\n".join(data)

    async def _parts(self) -> Any:
        if self.status in (204, 304) or self.status < 200:
            self.is_complete = True
            return
        if self._headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
                chunk = await self._reader.readexactly(size + 2)
                if size == 0:
                    break
                yield chunk[:-2]
        elif "content-length" in self._headers:
            length = int(self._headers["content-length"])
            if length:
                yield await self._reader.readexactly(length)
        else:
            self.keeps_alive = False
            while part := await self._reader.read(65_536):
                yield part
        self.is_complete = True


def _header_value(value: str) -> str:
    """As the protocol wants it: visible ASCII as it is, everything else as base64 in an envelope."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?"):
        return value
    import base64

    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="
