"""The whole product as one stdio MCP server, for measuring harnesses: `armillary up` as a child, then the bridge.

    whole_product.py CORPUS DATA

The first start returns to its client only when everything is indexed, so that "first index" means what it says;
CPU time and memory of every process of the product are those of this process and its descendants.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from armillary_cli.client import call_tool, is_alive
from armillary_cli.stdio import run_bridge

POLL_SECONDS = 0.1


def main() -> None:
    corpus, data = Path(sys.argv[1]), Path(sys.argv[2])
    first = not (data / "catalogue.sqlite3").exists()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    data.parent.mkdir(parents=True, exist_ok=True)
    with data.with_suffix(".log").open("ab") as log:
        server = subprocess.Popen(  # the server dies with this process, whatever ends it
            [Path(sys.executable).with_name("armillary"), "up", corpus, "--port", str(port), "--data", data],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        while not is_alive(url):
            if server.poll() is not None:
                raise SystemExit(f"the server ended with {server.returncode}; see {data.with_suffix('.log')}")
            time.sleep(POLL_SECONDS)
        while first and not _is_indexed(url):
            time.sleep(POLL_SECONDS)
        asyncio.run(run_bridge(f"{url}/mcp", os.environ.get("ARMILLARY_TOKEN")))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)


def _is_indexed(url: str) -> bool:
    cosmos = call_tool(url, "get_cosmos", {}).structured
    column = cosmos["projects"]["columns"].index("state")
    states = {row[column] for row in cosmos["projects"]["rows"]}
    # "… of … chunks" is said while vectors are missing
    return states == {"ok"} and not any("waiting" in engine or " of " in engine for engine in cosmos["engines"])


if __name__ == "__main__":
    main()
