"""The gateway over HTTP: one ASGI application that checks the host, asks who is calling, and routes."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import structlog
from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from armillary_core.domain.errors import BackendError
from armillary_core.domain.project import ProjectState
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER, Caller, Right
from armillary_gateway.auth import Authenticator, Refused, acting_as, has_token_in_query
from armillary_gateway.gateway import Gateway
from armillary_gateway.hosts import HostCheck
from armillary_gateway.instructions import INSTRUCTIONS
from armillary_gateway.protocol import AgentServer
from armillary_gateway.tools import TOOLS

log = structlog.get_logger("armillary.gateway")

MCP_PATH = "/mcp"
_WEB_PATHS = ("/", "/status")
_STATIC = "/static/"
_READINESS_SECONDS = 2.0


class HttpApp:
    """Serves `/mcp`, `/healthz`, `/readyz`, `/metrics`, and the web application's pages when there is one.

    Every other path, and so every path of sign-in discovery, is a JSON 404: clients that were given a token must not
    begin a sign-in dance. Use it as an ASGI application with lifespan, or `async with app.running()`.
    """

    def __init__(self, gateway: Gateway, web_app: ASGIApp | None = None) -> None:
        self._gateway = gateway
        self._web_app = web_app
        self._hosts = HostCheck(gateway.policy.public_hosts)
        self._authenticate = Authenticator(gateway.tokens, tokens_required=gateway.policy.tokens_required)
        self._server: AgentServer | None = None
        self._legs: dict[str, str] | None = None
        self._legs_at = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[HttpApp]:
        """The protocol's own tasks run inside; may be entered again after it was left."""
        server = AgentServer(self._gateway, TOOLS, instructions=INSTRUCTIONS, version=version("armillary-gateway"))
        server.streamable_http_app(
            streamable_http_path=MCP_PATH,
            stateless_http=True,
            json_response=False,
            # Host and Origin are checked here, before the token, so that refused names can be shown.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with server.session_manager.run():
            self._server = server
            try:
                yield self
            finally:
                self._server = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._guarded(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self.running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._serve(scope, receive, watched)
        except Exception as error:
            reference = secrets.token_hex(4)
            log.error("request.failed", reference=reference, path=scope["path"], exc_info=error)
            if not started:
                await _json(send, 500, "internal_error", f"Something went wrong (reference {reference} in the log).")

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        bad = self._hosts(scope)
        if bad is not None:
            self._gateway.refused_hosts.add(bad.header, bad.value, at=self._gateway.clock.now())
            log.warning("host.refused", header=bad.header, value=bad.value[:100])
            await self._refuse(send, bad.status, "host_refused", bad.message)
            return
        if has_token_in_query(scope):
            await self._refuse(
                send, 400, "invalid_request", "Tokens are not taken from the address. Send the Authorization header."
            )
            return
        path = scope["path"]
        if path in ("/healthz", "/readyz"):
            await self._probe(scope, send)
        elif path == MCP_PATH or path == MCP_PATH + "/":
            await self._mcp(scope, receive, send)
        elif path == "/metrics":
            await self._metrics(scope, send)
        elif self._web_app is not None and (path in _WEB_PATHS or path.startswith(_STATIC)):
            await self._web(self._web_app, scope, receive, send)
        else:
            await self._refuse(send, 404, "not_found", f"Nothing is here. MCP is at {MCP_PATH}.")

    async def _mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = await self._caller(scope, send)
        if caller is None:
            return
        if scope["method"] != "POST":
            await self._refuse(
                send, 405, "method_not_allowed", "Only POST: this server keeps no session.", (b"allow", b"POST")
            )
            return
        if self._server is None:
            await self._refuse(send, 503, "not_ready", "The server is starting or stopping. Try again.")
            return
        with acting_as(caller):
            await self._server.session_manager.handle_request(scope, receive, send)

    async def _web(self, web_app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(_STATIC):
            await web_app(scope, receive, send)
            return
        caller = await self._caller(scope, send)
        if caller is not None:
            await web_app({**scope, "state": {**scope.get("state", {}), "caller": caller}}, receive, send)

    async def _metrics(self, scope: Scope, send: Send) -> None:
        caller = await self._caller(scope, send)
        if caller is None:
            return
        if not caller.may(Right.MANAGE):
            await self._refuse(send, 403, "forbidden", "Metrics need the right to manage.")
            return
        report = await run_sync(self._gateway.health.report, caller)
        gauges = {
            "armillary_documents": float(sum(project.counts.documents for project in report.projects)),
            "armillary_projects": float(len(report.projects)),
            "armillary_projects_held": float(sum(project.state is ProjectState.HELD for project in report.projects)),
            "armillary_waiting_documents": float(sum(engine.waiting for engine in report.engines)),
            "armillary_vectors_missing": float(report.model.missing),
            "armillary_problems": float(len(report.problems)),
            "armillary_refused_hosts_total": float(self._gateway.refused_hosts.count),
        }
        body = self._gateway.metrics.render(gauges).encode()
        await _respond(send, 200, body, b"text/plain; version=0.0.4; charset=utf-8")

    async def _probe(self, scope: Scope, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await self._refuse(send, 405, "method_not_allowed", "Only GET.", (b"allow", b"GET"))
            return
        if scope["path"] == "/healthz":
            await _respond(send, 200, b'{"status":"ok"}')
            return
        legs = await self._readiness() if self._server is not None else {}
        ready = any(state == "ok" for state in legs.values())
        await _respond(send, 200 if ready else 503, json.dumps({"ready": ready, "legs": legs}).encode())

    async def _readiness(self) -> dict[str, str]:
        """The state of each leg, as a search finds it; remembered for a moment, since anybody may ask."""
        now = self._gateway.clock.monotonic()
        if self._legs is None or now - self._legs_at >= _READINESS_SECONDS:
            try:
                found = await self._gateway.search(SearchQuery("ready", mode=Mode.KEYWORD, limit=1), LOCAL_OWNER)
                self._legs = {leg.name: leg.state for leg in found.legs if leg.state != "off"}
            except BackendError:
                self._legs = {}
            self._legs_at = now
        return self._legs

    async def _caller(self, scope: Scope, send: Send) -> Caller | None:
        """Who is calling; None when the refusal was sent."""
        found = await self._authenticate(scope)
        if isinstance(found, Refused):
            await self._refuse(
                send, 401, "invalid_token", found.message, (b"www-authenticate", found.challenge.encode())
            )
            return None
        return found

    async def _refuse(self, send: Send, status: int, error: str, message: str, *headers: tuple[bytes, bytes]) -> None:
        self._gateway.metrics.answered(status)
        await _json(send, status, error, message, *headers)


def build_http_app(gateway: Gateway, web_app: ASGIApp | None = None) -> HttpApp:
    """The whole port of one process: MCP, probes, metrics, and the pages of `web_app`, which finds the caller in
    `request.state.caller`."""
    return HttpApp(gateway, web_app)


async def _json(send: Send, status: int, error: str, message: str, *headers: tuple[bytes, bytes]) -> None:
    body: dict[str, Any] = {"error": error, "error_description": message}
    await _respond(send, status, json.dumps(body).encode(), b"application/json", *headers)


async def _respond(
    send: Send, status: int, body: bytes, content_type: bytes = b"application/json", *headers: tuple[bytes, bytes]
) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", content_type),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
