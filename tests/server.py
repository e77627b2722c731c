"""The product as its user starts it: `armillary up` in a process of its own, driven over MCP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from armillary_cli.client import ToolAnswer, call_tool, is_alive

ARMILLARY = Path(sys.executable).with_name("armillary")
NO_MODEL = {"ARMILLARY_EMBEDDING__ENGINE": "none"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], Any], *, seconds: float = 60.0, every: float = 0.05) -> Any:
    """The first true value of the condition. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not true after {seconds} seconds")
        time.sleep(every)


class Server:
    """One running `armillary up`."""

    def __init__(self, data: Path, folders: Sequence[Path], *, env: dict[str, str] | None = None) -> None:
        self.data = data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data.parent / f"{data.name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(ARMILLARY), "up", *map(str, folders), "--port", str(self.port), "--data", str(data)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **NO_MODEL, **(env or {})},
                start_new_session=True,
            )

    def wait_alive(self, *, seconds: float = 60.0) -> None:
        def alive() -> bool:
            assert self.process.poll() is None, self.log.read_text(errors="replace")[-2000:]
            return is_alive(self.url, timeout_seconds=1.0)

        wait_until(alive, seconds=seconds)

    def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        return call_tool(self.url, tool, arguments)

    def status(self) -> dict[str, Any]:
        """What `armillary status --json` says."""
        done = subprocess.run(
            [str(ARMILLARY), "status", "--json", "--data", str(self.data)], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def kill(self) -> None:
        """As the power cut does it: every process of the product at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self.kill()
                raise


@contextlib.contextmanager
def serving(data: Path, folders: Sequence[Path], *, env: dict[str, str] | None = None) -> Iterator[Server]:
    server = Server(data, folders, env=env)
    try:
        server.wait_alive()
        yield server
    finally:
        server.stop()
