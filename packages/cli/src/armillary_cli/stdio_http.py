"""HTTP as the stdio bridge needs it: POST, keep-alive, JSON or a stream of events, and patience during a restart.

Written by hand because an HTTP library takes longer to import than a call takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any
from urllib.parse import SplitResult, urlsplit

NOT_REACHED, INTERNAL = -32000, -32603  # codes of what we say in the server's place
_CONNECT_TRIES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.5, 2.0, 2.0, 3.0)  # seconds to wait before each: a restart takes a moment
_LONGEST_LINE = 8 * 1024 * 1024


class UnreachableError(Exception):
    """The server did not answer; the text is for the person at the client."""


class HttpServer:
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
            raise UnreachableError(f"The Armillary server at {self._url} broke off its answer. Try again.") from error
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

    async def _exchange(self, request: bytes) -> tuple[_Connection, HttpAnswer]:
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
        raise UnreachableError(
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

    async def send(self, request: bytes) -> HttpAnswer:
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
        return HttpAnswer(int(parts[1]), headers, self._reader)

    def close(self) -> None:
        self._writer.close()


class HttpAnswer:
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
            return NOT_REACHED, f"The server refused the token. {said}".strip()
        return INTERNAL, f"The server answered with HTTP {self.status}. {said}".strip()

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
