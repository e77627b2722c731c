"""The gateway behind a real HTTP server: restarts, the stdio bridge, clients of both eras, and what a call costs."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from armillary_cli.listen import listen
from armillary_cli.stdio import run_bridge
from armillary_core.domain.token import Right
from armillary_gateway.server import build_http_app
from worlds import World, make_world, text_of

pytestmark = pytest.mark.anyio
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class QuietServer(uvicorn.Server):
    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(world: World, port: int = 0) -> AsyncIterator[int]:
    """The gateway on a port of this machine; yields the port."""
    bound = listen("127.0.0.1", port)
    config = uvicorn.Config(
        build_http_app(world.gateway), log_config=None, access_log=False, timeout_graceful_shutdown=2, ws="none"
    )
    server = QuietServer(config)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        async with asyncio.timeout(10):
            while not server.started:
                await asyncio.sleep(0.01)
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        bound.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    made.project("guides")
    made.add(
        "guides", {"backup.md": "# Backup\n## Rotate keys\nHow to rotate the backup keys.\n", "naïve.md": "# Ünïcode\n"}
    )
    yield made
    made.catalogue.close()


class BridgeClient:
    """What a client on the other end of stdin and stdout sees."""

    def __init__(self, into: BinaryIO, out: BinaryIO) -> None:
        self._into, self._out = into, out
        self.seen: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any] | str) -> None:
        line = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0"} | message)
        self._into.write(line.encode() + b"\n")
        self._into.flush()

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(20):
            line = await asyncio.to_thread(self._out.readline)
        message: dict[str, Any] = json.loads(line)
        self.seen.append(message)
        return message

    async def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"id": number, "method": method, "params": params})
        answer = await self.receive()
        assert answer["id"] == number
        return answer

    def hang_up(self) -> None:
        self._into.close()


@asynccontextmanager
async def bridged(port: int, token: str | None = None) -> AsyncIterator[BridgeClient]:
    """run_bridge between two pipes."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    with (
        os.fdopen(in_read, "rb") as stdin,
        os.fdopen(out_write, "wb") as stdout,
        os.fdopen(out_read, "rb") as answers,
    ):
        client = BridgeClient(os.fdopen(in_write, "wb"), answers)
        bridge = asyncio.create_task(run_bridge(f"http://127.0.0.1:{port}/mcp", token, stdin, stdout))
        try:
            yield client
        finally:
            client.hang_up()
            async with asyncio.timeout(20):
                await bridge


def search(query: str = "rotate keys", **params: Any) -> dict[str, Any]:
    return {"name": "search_docs", "arguments": {"query": query}, **params}


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


async def test_the_bridge_carries_a_legacy_session(world: World) -> None:
    async with served(world) as port, bridged(port) as client:
        hello = await client.ask(1, "initialize", **HELLO)
        assert hello["result"]["protocolVersion"] == "2025-11-25"
        assert hello["result"]["serverInfo"]["name"] == "armillary"
        client.send({"method": "notifications/initialized"})
        assert len((await client.ask(2, "tools/list"))["result"]["tools"]) == 10
        found = await client.ask(3, "tools/call", **search())
        assert "How to rotate" in found["result"]["content"][0]["text"]
        assert (await client.ask(4, "ping"))["result"] == {}


async def test_the_bridge_carries_modern_calls_with_odd_names(world: World) -> None:
    async with served(world) as port, bridged(port) as client:
        known = await client.ask(1, "server/discover", _meta=META)
        assert known["result"]["supportedVersions"] == ["2026-07-28"]
        found = await client.ask(2, "tools/call", **search(_meta=META))
        assert found["result"]["structuredContent"]["hits"][0]["id"].startswith("guides::backup.md#")
        read = await client.ask(3, "resources/read", uri="armillary://guides/naïve.md", _meta=META)
        assert "Ünïcode" in read["result"]["contents"][0]["text"]
        unknown = await client.ask(4, "tools/call", name="nö tool\n", arguments={}, _meta=META)
        assert unknown["result"]["content"][0]["text"].startswith("Unknown tool: nö tool . Tools: get_cosmos")


async def test_b01_a_restart_between_two_calls_is_not_noticed(world: World) -> None:
    async with served(world) as port:
        pass
    async with bridged(port) as client:
        async with served(world, port):
            await client.ask(1, "initialize", **HELLO)
            first = await client.ask(2, "tools/call", **search())
        client.send({"id": 3, "method": "tools/call", "params": search()})  # nobody listens: it waits for the restart
        async with served(world, port):
            second = await client.receive()
        assert second["id"] == 3 and second["result"] == first["result"]


async def test_calls_overlap(world: World) -> None:
    release = asyncio.Event()
    plain = world.gateway.search

    async def slow(query: Any, caller: Any) -> Any:
        if query.text == "slow":
            await release.wait()
        return await plain(query, caller)

    object.__setattr__(world.gateway, "search", slow)
    async with served(world) as port, bridged(port) as client:
        client.send({"id": "a", "method": "tools/call", "params": search("slow", _meta=META)})
        client.send({"id": "b", "method": "tools/call", "params": search("rotate", _meta=META)})
        assert (await client.receive())["id"] == "b"
        release.set()
        assert (await client.receive())["id"] == "a"


async def test_a_cancelled_call_is_not_answered(world: World) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(*_: Any) -> Any:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    object.__setattr__(world.gateway, "search", endless)
    async with served(world) as port, bridged(port) as client:
        client.send({"id": 1, "method": "tools/call", "params": search(_meta=META)})
        async with asyncio.timeout(5):
            await started.wait()
        client.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
        async with asyncio.timeout(5):
            await cancelled.wait()
        assert (await client.ask(2, "tools/list", _meta=META))["id"] == 2
    assert [message["id"] for message in client.seen] == [2]


async def test_progress_comes_before_the_answer(world: World) -> None:
    world = world.with_policy(reindex_wait_seconds=0.5)
    async with served(world) as port, bridged(port, world.token("m", Right.MANAGE)) as client:
        params = {"name": "reindex", "arguments": {"project": "guides"}, "_meta": META | {"progressToken": "p"}}
        client.send({"id": 1, "method": "tools/call", "params": params})
        progress = await client.receive()
        assert progress["method"] == "notifications/progress" and progress["params"]["progressToken"] == "p"
        answer = await client.receive()
        assert answer["result"]["structuredContent"]["jobs"][0]["state"] == "waiting"


async def test_what_is_no_message_is_told_and_survived(world: World) -> None:
    async with served(world) as port, bridged(port) as client:
        client.send("this is not JSON")
        assert (await client.receive())["error"]["code"] == -32700
        client.send("[]")
        assert (await client.receive())["error"]["code"] == -32600
        client.send("")
        assert (await client.ask(1, "tools/list", _meta=META))["id"] == 1


async def test_a_refused_token_is_said_in_the_answer(world: World) -> None:
    async with served(world) as port, bridged(port, "arm_wrong") as client:
        refused = await client.ask(7, "tools/list", _meta=META)
        assert "The server refused the token" in refused["error"]["message"]


async def test_a_stream_of_changes_ends_with_the_server(world: World) -> None:
    async with served(world) as port:
        pass
    async with bridged(port) as client:
        async with served(world, port):
            filters = {"notifications": {"toolsListChanged": True}}
            client.send({"id": 1, "method": "subscriptions/listen", "params": filters | {"_meta": META}})
            acknowledged = await client.receive()
            assert "error" not in acknowledged
            assert (await client.ask(2, "tools/list", _meta=META))["id"] == 2
        ended = await client.receive()
        assert ended["id"] == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_sdks_client_works_through_the_bridge_as_a_process(world: World, mode: str) -> None:
    program = "import asyncio, sys; from armillary_cli.stdio import run_bridge; asyncio.run(run_bridge(sys.argv[1]))"
    async with served(world) as port:
        parameters = StdioServerParameters(command=sys.executable, args=["-c", program, f"http://127.0.0.1:{port}/mcp"])
        async with asyncio.timeout(30), Client(parameters, mode=mode) as client:
            assert len((await client.list_tools()).tools) == 10
            found = await client.call_tool("search_docs", {"query": "rotate keys"})
            assert "How to rotate" in text_of(found)


def test_the_bridge_starts_with_few_imports() -> None:
    counted = subprocess.run(
        [sys.executable, "-c", "import sys, armillary_cli.stdio; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(counted.stdout.split())
    assert not {"mcp", "pydantic", "starlette", "httpx2", "typer", "rich", "armillary_core"} & loaded


async def test_the_sdks_client_works_over_http_in_both_eras(world: World) -> None:
    token = world.token("laptop")
    world = world.with_policy(tokens_required=True)
    async with served(world) as port:
        for mode in ("auto", "legacy"):
            async with (
                httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http,
                Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http), mode=mode) as client,
            ):
                assert len((await client.list_tools()).tools) == 7
                assert "How to rotate" in text_of(await client.call_tool("search_docs", {"query": "rotate keys"}))


async def test_a_call_costs_little_beside_the_use_case(world: World) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": search(_meta=META)}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
    headers |= {"mcp-method": "tools/call", "mcp-name": "search_docs"}
    walls: list[float] = []
    async with served(world) as port, httpx2.AsyncClient(headers=headers) as http:
        for _ in range(20):
            await http.post(f"http://127.0.0.1:{port}/mcp", json=body)
        before = time.process_time()
        for _ in range(100):
            started = time.perf_counter()
            answer = await http.post(f"http://127.0.0.1:{port}/mcp", json=body)
            walls.append(time.perf_counter() - started)
        spent = (time.process_time() - before) / 100
    assert answer.status_code == 200
    assert spent < 0.012  # client, server and search together, CPU; a machine under load does not change it much
    assert statistics.quantiles(walls)[0] < 0.035  # no call waits for a delayed acknowledgement, which takes 40 ms
