"""The command line in this process, with a home folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from armillary_cli.main import main


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in list(os.environ):
        if name.upper().startswith("ARMILLARY_"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("ARMILLARY_EMBEDDING__ENGINE", "none")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command as `main` does: its exit code and both outputs."""

    def run_command(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["armillary", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
            raise SystemExit(0)
        said = capsys.readouterr()
        code = ended.value.code
        return Said(code if isinstance(code, int) else 0 if code is None else 1, said.out, said.err)

    return run_command
