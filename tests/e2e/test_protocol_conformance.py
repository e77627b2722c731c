"""The whole product against the protocol's own suite and against clients that others wrote.

Each test needs things that are not part of this project and is skipped, loudly, without them: Node 22 or newer (on
PATH, or named by ARMILLARY_TEST_NODE), npm packages (from npm's cache or the network), the suite's runner beside the
checkout, and for fastmcp a Python that has it (ARMILLARY_TEST_FASTMCP).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from server import ARMILLARY, Server, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

CLIENTS = Path(__file__).resolve().parent / "clients"
PASSED_AT_LEAST = 22
TOOLS = ["get_cosmos", "search_docs", "read_doc", "list_docs", "list_chapters", "get_card", "find_similar"]
TOOLS += ["update_card", "accept_divergence", "reindex"]


def skip(why: str) -> NoReturn:
    pytest.skip(f"SKIPPED: {why}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("product")
    project = folder / "guides"
    project.mkdir()
    (project / "backup.md").write_text(
        "# Backup\n\n## Rotate keys\n\nHow to rotate the backup keys.\n", encoding="utf-8"
    )
    (project / "other.md").write_text("# Other\n\nSomething else about keys.\n", encoding="utf-8")
    with serving(folder / "data", [project]) as running:
        yield running


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    return f"{server.url}/mcp"


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    command = [str(ARMILLARY), "tokens", "create", "tester", "--right", "manage", "--json", "--data", str(server.data)]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    secret: str = json.loads(made.stdout)["token"]
    return secret


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment with a Node that is new enough first on PATH."""
    named = os.environ.get("ARMILLARY_TEST_NODE")
    node = named or shutil.which("node")
    if node is None:
        skip("no node on PATH; set ARMILLARY_TEST_NODE to one of version 22 or newer.")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").split(".")[0]) < 22:
        skip(f"node is {version}, 22 or newer is needed; set ARMILLARY_TEST_NODE.")
    return os.environ | {"PATH": f"{Path(node).resolve().parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with our clients and the SDKs they need."""
    folder = tmp_path_factory.mktemp("clients")
    for script in CLIENTS.glob("*.mjs"):
        shutil.copy(script, folder)
    wanted = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"]
    command = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", *wanted]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180)
    if done.returncode:
        skip(f"npm could not install the SDKs: {done.stderr[-300:]}")
    return folder


def run_node(script: str, *arguments: str, folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    command = ["node", script, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_conformance_suite_passes_in_both_eras(
    url: str, token: str, shared_folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    runner = shared_folder / "tools" / "mcp" / "run_conformance.sh"
    if not runner.is_file():
        skip(f"{runner} is not there.")
    probe = ["npx", "--yes", "--prefer-offline", "@modelcontextprotocol/conformance@0.1.16", "--version"]
    if subprocess.run(probe, env=environment, capture_output=True, timeout=180).returncode:
        skip("npx could not fetch the conformance suite.")
    done = subprocess.run(
        ["bash", str(runner), url.replace("127.0.0.1", "localhost"), "generic", token],
        env=environment | {"CONFORMANCE_OUT": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert "FAIL" not in done.stdout, done.stdout
    assert done.stdout.count("PASS") >= PASSED_AT_LEAST, done.stdout + done.stderr


def test_the_typescript_sdk_1_runs_through(url: str, token: str, packages: Path, environment: dict[str, str]) -> None:
    said = run_node("sdk_1.mjs", url, token, folder=packages, environment=environment)
    assert said["server"] == "armillary" and said["session"] is None
    assert said["tools"] == TOOLS
    assert said["id"] == "guides::backup.md#rotate-keys"
    assert "How to rotate the backup keys." in said["text"] and "How to rotate" in said["resource"]
    assert said["failed"] == 0 and said["prompt"] == 1
    assert said["job"] in ("waiting", "running", "done")
    assert "limit" in said["wrong"] and "25" in said["wrong"]


@pytest.mark.parametrize(("era", "spoken"), [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28",) * 2])
def test_the_typescript_sdk_2_runs_through(
    url: str, token: str, packages: Path, environment: dict[str, str], era: str, spoken: str
) -> None:
    said = run_node("sdk_2.mjs", url, token, era, folder=packages, environment=environment)
    assert said["server"] == "armillary" and said["era"] == spoken
    assert said["tools"] == TOOLS
    assert "How to rotate the backup keys." in said["text"]


def test_the_fastmcp_client_runs_through(url: str, token: str) -> None:
    python = os.environ.get("ARMILLARY_TEST_FASTMCP")
    if python is None:
        skip("set ARMILLARY_TEST_FASTMCP to a Python that has fastmcp 4.")
    command = [python, str(CLIENTS / "fastmcp_client.py"), url, token]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["tools"] == TOOLS and said["prompt"] == 1
    assert "How to rotate the backup keys." in said["text"] and "How to rotate" in said["resource"]
    assert "limit" in said["wrong"]


def test_the_inspector_finds_portable_schemas(url: str, token: str, environment: dict[str, str]) -> None:
    inspect = ["npx", "--yes", "--prefer-offline", "@modelcontextprotocol/inspector@2.12.0", "--cli", url]
    inspect += ["--transport", "http", "--header", f"Authorization: Bearer {token}", "--format", "json", "-q"]
    probe = subprocess.run(
        [*inspect, "--method", "initialize"], env=environment, capture_output=True, text=True, timeout=300
    )
    if probe.returncode and "npm error" in probe.stderr:
        skip("npx could not fetch the inspector.")
    assert probe.returncode == 0, probe.stdout + probe.stderr
    for arguments in (
        ["--method", "initialize", "--protocol-era", "modern"],
        ["--method", "tools/list", "--strict"],
        ["--method", "tools/call", "--tool-name", "search_docs", "--tool-args-json", '{"query": "keys", "limit": 2}'],
        ["--method", "tools/call", "--tool-name", "get_cosmos", "--protocol-era", "modern"],
        ["--method", "resources/templates/list"],
        ["--method", "resources/read", "--uri", "armillary://guides/backup.md"],
        ["--method", "prompts/get", "--prompt-name", "enrich_index"],
    ):
        done = subprocess.run([*inspect, *arguments], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (arguments, done.stdout[-1500:], done.stderr[-1500:])
