"""Scripts can trust the exit code of `armillary search`: 0 only with an answer."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from armillary_cli import client, server_process
from armillary_cli.client import ToolAnswer
from armillary_cli.main import app
from armillary_cli.owner import Owner

HIT = {"id": "notes::a.md", "score": 0.9}


@pytest.mark.parametrize(
    ("structured", "code"),
    [
        ({"status": "ok", "hits": [HIT]}, 0),
        ({"status": "nothing relevant found, the nearest are shown", "hits": [HIT], "relevant": False}, 1),
        ({"status": "nothing found", "hits": []}, 1),
    ],
    ids=["an answer", "only the nearest", "nothing"],
)
def test_the_exit_code_tells_an_answer_from_the_nearest(
    monkeypatch: pytest.MonkeyPatch, structured: dict[str, Any], code: int
) -> None:
    monkeypatch.setattr(server_process, "running_server", lambda *_, **__: Owner(1, "http://127.0.0.1:1", "0", 0.0))
    monkeypatch.setattr(client, "call_tool", lambda *_, **__: ToolAnswer("", structured))
    assert CliRunner().invoke(app, ["search", "tides"]).exit_code == code
