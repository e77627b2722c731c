"""`armillary up` as its user meets it: processes, signals, ports, and commands that find it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armillary_cli.owner import find_owner, is_owned
from armillary_core.domain.errors import ProjectNotFoundError
from server import ARMILLARY, NO_MODEL, Server, free_port, serving, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

STOPPED = "Stopped. Nothing is lost; the next start goes on from here."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "backup.md").write_text("# Backup\n\n## Rotating the keys\n\nEvery quarter, with the tidal plan.\n")
    (folder / "garden.md").write_text("# Garden\n\nTomatoes want sun.\n")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server, if any, is gone afterwards."""
    folder = tmp_path / "data"
    yield folder
    if (owner := find_owner(folder)) is not None:
        os.kill(owner.pid, signal.SIGKILL)


def armillary(*arguments: str | Path, data: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ARMILLARY), *map(str, arguments), "--data", str(data)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **NO_MODEL},
        check=False,
        **options,
    )


def found(server: Server, query: str) -> list[str]:
    return [hit["id"].partition("#")[0] for hit in server.call("search_docs", query=query).structured["hits"]]


def wait_found(server: Server, query: str, document: str) -> None:
    wait_until(lambda: document in found(server, query))


def test_a_first_start_answers_and_says_what_to_type_next(data: Path, notes: Path) -> None:
    with serving(data, [notes]) as server:
        wait_found(server, "rotating keys", "notes::backup.md")
        wait_until(lambda: "Ready in" in server.log.read_text())
        said = server.log.read_text()
    assert f"is listening on {server.url}  (MCP: {server.url}/mcp)" in said
    assert "notes: 2 files" in said
    assert f"connect claude-code --data {data} " in said
    assert f'search "how do we rotate the backup keys?" --data {data}\n' in said
    assert server.log.read_text().rstrip().endswith(STOPPED)
    assert server.process.returncode == 0
    assert sorted(os.listdir(notes)) == ["backup.md", "garden.md"]


def test_a_second_server_for_the_same_data_says_where_the_first_one_listens(data: Path, notes: Path) -> None:
    with serving(data, [notes]) as server:
        refused = armillary("up", notes, "--port", "0", data=data)
        assert refused.returncode == 2
        assert server.url in refused.stderr
        assert f"`armillary projects add DIR --data {data}`" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_a_busy_port_is_one_line_and_exit_code_2(data: Path, notes: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = armillary("up", notes, "--port", str(port), data=data)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        f"armillary: Port {port} is taken by another program. Choose another one with --port (`make run PORT=8421`), "
        "or stop that program."
    ]
    assert not is_owned(data)


def test_a_second_start_on_an_unchanged_tree_answers_soon(data: Path, notes: Path) -> None:
    with serving(data, [notes]) as server:
        wait_found(server, "tomatoes", "notes::garden.md")
    started = time.monotonic()
    with serving(data, []) as server:
        assert found(server, "tomatoes") == ["notes::garden.md"]
        took = time.monotonic() - started
    assert took < 10, "two seconds on a quiet machine"


def test_a_power_cut_loses_nothing(data: Path, notes: Path) -> None:
    server = Server(data, [notes])
    server.wait_alive()
    wait_found(server, "tomatoes", "notes::garden.md")
    server.call("update_card", doc="notes::garden.md", summary="About lycopene.")
    server.kill()
    assert not is_owned(data)
    with serving(data, []) as server:
        wait_found(server, "tomatoes", "notes::garden.md")
        assert "lycopene" in server.call("get_card", doc="notes::garden.md").text


def test_lost_engines_are_filled_again(data: Path, notes: Path) -> None:
    with serving(data, [notes]) as server:
        wait_found(server, "tomatoes", "notes::garden.md")
    shutil.rmtree(data / "engines")
    with serving(data, []) as server:
        wait_found(server, "tomatoes", "notes::garden.md")


def test_projects_come_and_go_while_it_runs(data: Path, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sea.md").write_text("# Sea\n\nThe moon pulls the water.\n")
    with serving(data, [notes]) as server:
        wait_found(server, "tomatoes", "notes::garden.md")
        assert armillary("projects", "add", other, data=data).returncode == 0
        wait_found(server, "moon pulls water", "other::sea.md")
        assert armillary("projects", "remove", "other", data=data).returncode == 0
        wait_until(lambda: "other::sea.md" not in found(server, "moon pulls water"))
        with pytest.raises(ProjectNotFoundError, match="other"):
            server.call("list_docs", project="other")


def test_a_saved_file_is_found(data: Path, notes: Path) -> None:
    with serving(data, [notes]) as server:
        wait_found(server, "tomatoes", "notes::garden.md")
        (notes / "new.md").write_text("# New\n\nA zeppelin over the lake.\n")
        wait_found(server, "zeppelin", "notes::new.md")
        (notes / "new.md").unlink()
        wait_until(lambda: "notes::new.md" not in found(server, "zeppelin"))


def test_search_starts_a_server_and_stop_ends_it(data: Path, notes: Path) -> None:
    env = {"ARMILLARY_PORT": str(free_port())}
    os.environ.update(env)
    try:
        assert armillary("projects", "add", notes, data=data).returncode == 0
        assert armillary("reindex", data=data).returncode == 0
        hits = wait_until(lambda: json.loads(armillary("search", "tomatoes", "--json", data=data).stdout)["hits"])
        assert hits[0]["id"].startswith("notes::garden.md")
        assert armillary("search", "qwertyzuiop", data=data).returncode == 1
        unknown = armillary("search", "tomatoes", "--project", "nope", data=data)
        assert (unknown.returncode, unknown.stderr) == (1, 'armillary: No project "nope". Projects: notes.\n')
        for wrong in (["", "--json"], ["*"], ["x" * 5000], ["tomatoes", "--type", "nonsense"]):
            refused = armillary("search", *wrong, data=data)
            assert refused.returncode == 2
            assert len(refused.stderr.splitlines()) == 1 and "call again" not in refused.stderr
        status = json.loads(armillary("status", "--json", data=data).stdout)
        assert status["server"]["url"].endswith(env["ARMILLARY_PORT"])
        assert armillary("stop", data=data).returncode == 0
        assert armillary("stop", data=data).returncode == 1
        assert not is_owned(data)
    finally:
        del os.environ["ARMILLARY_PORT"]


def test_the_bridge_starts_a_server_and_speaks_nothing_but_the_protocol(data: Path, notes: Path) -> None:
    armillary("projects", "add", notes, data=data)
    messages = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_cosmos", "arguments": {}}},
    ]
    os.environ["ARMILLARY_PORT"] = "0"
    try:
        said = armillary("stdio", data=data, input="".join(json.dumps(message) + "\n" for message in messages))
    finally:
        del os.environ["ARMILLARY_PORT"]
    answers = {answer["id"]: answer for answer in map(json.loads, said.stdout.splitlines())}
    assert answers[1]["result"]["serverInfo"]["name"] == "armillary"
    assert "notes" in json.dumps(answers[2]["result"])
    assert armillary("stop", data=data).returncode == 0


def test_another_address_wants_a_token_and_takes_it(data: Path, notes: Path) -> None:
    token = armillary("tokens", "create", "laptop", data=data).stdout.strip()
    port = free_port()
    server = Server(data, [notes], env={"ARMILLARY_BIND": "0.0.0.0", "ARMILLARY_PORT": str(port)})
    try:
        server.wait_alive()
        refused = armillary("search", "tomatoes", data=data)
        assert refused.returncode == 1
        assert "ARMILLARY_TOKEN" in refused.stderr
        os.environ["ARMILLARY_TOKEN"] = token
        wait_until(lambda: armillary("search", "tomatoes", data=data).returncode == 0)
    finally:
        os.environ.pop("ARMILLARY_TOKEN", None)
        server.stop()


def test_the_status_page_is_there(data: Path, notes: Path) -> None:
    with (
        serving(data, [notes]) as server,
        contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection,
    ):
        connection.request("GET", "/status")
        answer = connection.getresponse()
        assert answer.status == 200
        assert b"notes" in answer.read()
