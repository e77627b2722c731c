from __future__ import annotations

import json
import logging
from typing import Any

import httpx2
import pytest

from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.domain.token import LOCAL_OWNER, Right
from worlds import URL, World, http_client

BASE = "http://localhost:8420"
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "get_cosmos"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def call(**params: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "get_cosmos", "arguments": {}} | params,
    }


def initialize() -> dict[str, Any]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


async def post(http: httpx2.AsyncClient, body: dict[str, Any], **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await http.post(URL, json=body, headers=ACCEPT | named)


def answer_in(response: httpx2.Response) -> dict[str, Any]:
    if response.headers["content-type"].startswith("text/event-stream"):
        data = [line[5:] for line in response.text.splitlines() if line.startswith("data:")]
        return json.loads(data[-1])
    return response.json()


@pytest.mark.anyio
@pytest.mark.parametrize("session", [None, "stale-0001", "x" * 5000, "0f" * 16])
async def test_b01_a_call_after_a_restart_is_answered_whatever_session_it_names(
    world: World, session: str | None
) -> None:
    async with http_client(world.app) as http:
        assert (await post(http, initialize())).status_code == 200
    headers = {"mcp_session_id": session} if session else {}
    async with http_client(world.app) as http:  # another process, as after a restart
        old = await post(http, call(), mcp_protocol_version="2025-06-18", **headers)
        assert old.status_code == 200 and "result" in answer_in(old)
        assert "mcp-session-id" not in old.headers
        new = await post(http, call(_meta=META), **{k.replace("-", "_"): v for k, v in MODERN.items()}, **headers)
        assert new.status_code == 200 and "result" in answer_in(new)


@pytest.mark.anyio
async def test_b01_many_handshakes_leave_nothing_behind(world: World) -> None:
    app = world.app
    async with http_client(app) as http:
        for _ in range(300):
            assert (await post(http, initialize())).status_code == 200
        manager = app._server.session_manager  # type: ignore[union-attr]  # nothing public tells of what is kept
        assert manager._server_instances == {}
        assert len(manager._task_group._tasks) < 10  # type: ignore[union-attr]


ALLOWED = ["docs.example.test", "docs.example.test:8443", "DOCS.Example.TEST", "docs.example.test.", "192.0.2.10"]
ALLOWED += ["[2001:db8::1]:8000", "[2001:DB8::1]", "localhost:1", "127.0.0.1", "[::1]:8420", "gateway:8000"]
REFUSED = ["evil.example", "evil.docs.example.test", "docs.example.test.evil", "gateway:8001", "gateway", "", " "]
REFUSED += ["docs.example.test@evil.example", "docs.example.test:80:80", "docs.example.test:x", "[::1", "127.0.0.2"]


@pytest.mark.anyio
async def test_b02_exactly_the_configured_names_pass(world: World) -> None:
    names = ("docs.example.test", "192.0.2.10", "2001:db8::1", "gateway:8000")
    world = world.with_policy(public_hosts=names)
    async with http_client(world.app) as http:
        for host in ALLOWED:
            for path in ("/healthz", "/mcp"):
                assert (await http.get(BASE + path, headers={"host": host})).status_code in (200, 405), host
        for host in REFUSED:
            refused = await http.get(BASE + "/healthz", headers={"host": host})
            assert refused.status_code == 421, host
            assert "public_hosts" in refused.json()["error_description"]
    assert world.gateway.refused_hosts.count == len(REFUSED)
    assert [name.value for name in world.gateway.refused_hosts.recent()] == list(reversed(REFUSED))


@pytest.mark.anyio
async def test_b02_two_host_headers_or_none_are_refused(world: World) -> None:
    async with http_client(world.app) as http:
        for hosts in ([], [(b"host", b"localhost"), (b"host", b"localhost")]):
            status = await asgi_status(world, [*hosts])
            assert status == 421
        assert (await http.get(BASE + "/healthz")).status_code == 200


async def asgi_status(world: World, headers: list[tuple[bytes, bytes]]) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {"type": "http", "method": "GET", "path": "/healthz", "query_string": b"", "headers": headers}
    await world.app(scope, receive, send)
    return statuses[0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("https://docs.example.test", 200),
        ("https://DOCS.example.test:8443", 200),
        ("http://[::1]:1", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("file://localhost", 403),
        ("http://localhost@evil.example", 403),
        ("http://localhost.evil.example", 403),
    ],
)
async def test_b02_a_page_of_another_origin_may_not_call(world: World, origin: str, status: int) -> None:
    world = world.with_policy(public_hosts=("docs.example.test",))
    async with http_client(world.app) as http:
        assert (await http.get(BASE + "/healthz", headers={"origin": origin})).status_code == status


UNKNOWN_PATHS = [
    "/favicon.ico",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/register",
    "/authorize",
    "/token",
    "//mcp",
    "/mcp/x",
    "/MCP",
    "/static/",
]


@pytest.mark.anyio
@pytest.mark.parametrize("path", UNKNOWN_PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "BREW"])
async def test_b03_every_other_path_is_a_json_404(world: World, path: str, method: str) -> None:
    world = world.with_policy(tokens_required=True)
    async with http_client(world.app) as http:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            response = await http.request(method, BASE + path, headers=headers)
            assert response.status_code == 404
            assert response.headers["content-type"] == "application/json"
            assert response.json()["error"] == "not_found"
            assert "www-authenticate" not in response.headers


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/metrics"])
async def test_b03_a_missing_or_bad_token_is_a_clear_401(world: World, path: str) -> None:
    expiring, revoked = world.token("expiring", days=1), world.token("revoked")
    world.gateway.tokens.revoke("revoked", LOCAL_OWNER)
    world.clock.advance(2 * 86_400)
    world = world.with_policy(tokens_required=True)
    given = [None, "Basic abc", "Bearer", "Bearer ", "arm_abc", "Bearer wrong", "Bearer " + "x" * 5000]
    given += [f"Bearer {expiring}", f"Bearer {revoked}"]
    async with http_client(world.app) as http:
        for value in given:
            headers = ACCEPT | ({"authorization": value} if value is not None else {})
            response = await http.post(BASE + path, json=call(), headers=headers)
            assert response.status_code == 401, value
            assert response.headers["www-authenticate"].split()[0] == "Bearer"
            assert "resource_metadata" not in response.headers["www-authenticate"]
            assert response.headers["content-type"] == "application/json"
            assert "token" in response.json()["error_description"].lower() or "Bearer" in response.text


@pytest.mark.anyio
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_b03_a_good_token_works_in_any_case_of_the_scheme(world: World, scheme: str) -> None:
    token = world.token("laptop")
    world = world.with_policy(tokens_required=True)
    async with http_client(world.app) as http:
        response = await post(http, call(), authorization=f"{scheme} {token}")
        assert response.status_code == 200
        assert answer_in(response)["result"]["structuredContent"]["caller"] == "laptop"


@pytest.mark.anyio
async def test_on_loopback_no_token_is_the_owner_but_a_wrong_one_is_refused(world: World) -> None:
    async with http_client(world.app) as http:
        assert answer_in(await post(http, call()))["result"]["structuredContent"]["caller"] == "local"
        assert (await post(http, call(), authorization="Bearer wrong")).status_code == 401


@pytest.mark.anyio
async def test_b03_a_token_in_the_address_is_refused_and_in_no_log(
    world: World, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    token = world.token("laptop")
    async with http_client(world.app) as http:
        for query in (f"token={token}", f"access_token={token}", "api_key=abc", f"q={token}"):
            for path in ("/mcp", "/healthz", "/favicon.ico"):
                response = await http.post(f"{BASE}{path}?{query}", json=call(), headers=ACCEPT)
                assert response.status_code == 400
                assert token not in response.text
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx2", "httpcore2"))]
    assert token not in "".join(ours) + capsys.readouterr().out


@pytest.mark.anyio
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
async def test_the_endpoint_keeps_no_session_to_get_or_delete(world: World, method: str) -> None:
    async with http_client(world.app) as http:
        response = await http.request(method, URL, headers=ACCEPT)
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"


@pytest.mark.anyio
async def test_probes_need_no_token_and_tell_nothing(world: World) -> None:
    world.project("secret-plans")
    world = world.with_policy(tokens_required=True)
    app = world.app
    async with http_client(app) as http:
        assert (await http.get(BASE + "/healthz")).json() == {"status": "ok"}
        ready = await http.get(BASE + "/readyz")
        assert (ready.status_code, ready.json()) == (200, {"ready": True, "legs": {"words": "ok", "names": "ok"}})
        assert (await http.post(BASE + "/readyz")).status_code == 405


@pytest.mark.anyio
async def test_without_an_engine_the_server_lives_but_is_not_ready(world: World) -> None:
    async def dead(*_: Any) -> Any:
        raise BackendUnavailableError("All engines are away.")

    plain = world.gateway.search
    object.__setattr__(world.gateway, "search", dead)
    async with http_client(world.app) as http:
        assert (await http.get(BASE + "/readyz")).status_code == 503
        object.__setattr__(world.gateway, "search", plain)
        world.clock.advance(3)
        assert (await http.get(BASE + "/readyz")).status_code == 200
        assert (await http.get(BASE + "/healthz")).status_code == 200


@pytest.mark.anyio
async def test_metrics_need_the_right_to_manage(world: World) -> None:
    reader, manager = world.token("reader"), world.token("manager", Right.MANAGE)
    async with http_client(world.app) as http:
        await post(http, call())
        refused = await http.get(BASE + "/metrics", headers={"authorization": f"Bearer {reader}"})
        assert refused.status_code == 403
        shown = await http.get(BASE + "/metrics", headers={"authorization": f"Bearer {manager}"})
        assert 'armillary_tool_calls_total{tool="get_cosmos",outcome="ok"} 1' in shown.text
        assert "armillary_projects 0" in shown.text


@pytest.mark.anyio
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[[", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"1" * 5000])
@pytest.mark.parametrize("version", [None, "2025-06-18", "2026-07-28", "2099-01-01", "x\ty"])
async def test_nonsense_gets_a_client_error_and_never_html(world: World, body: bytes, version: str | None) -> None:
    headers = ACCEPT | ({"mcp-protocol-version": version} if version else {})
    async with http_client(world.app) as http:
        response = await http.post(URL, content=body, headers=headers)
    assert 400 <= response.status_code < 500
    assert "html" not in response.headers.get("content-type", "")


@pytest.mark.anyio
async def test_a_body_beyond_the_limit_is_refused(world: World) -> None:
    async with http_client(world.app) as http:
        response = await http.post(URL, content=b" " * (5 * 1024 * 1024), headers=ACCEPT)
    assert response.status_code == 413
