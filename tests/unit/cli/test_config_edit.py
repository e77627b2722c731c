"""Changing one group of a configuration that somebody wrote by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .conftest import Run

USUAL = ".config/armillary/config.yaml"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "port: 9000",
        "# mine\nport: 9000 # why\n\nembedding:\n  engine: none\n\n# last\nbind: 127.0.0.1\n",
        "embedding: {engine: none}\nport: 9000\n",
        "embedding:\n  threads: 2\n  # a comment inside\n  model: bge-small-en-v1.5",
    ],
)
def test_every_other_line_stays(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    monkeypatch.delenv("ARMILLARY_EMBEDDING__ENGINE")
    file = home / USUAL
    file.parent.mkdir(parents=True)
    file.write_text(before, encoding="utf-8")
    said = run("models", "use", "multilingual-e5-small")
    assert said.code == 0, said.err
    after = file.read_text(encoding="utf-8")
    wanted = yaml.safe_load(before) or {}
    values = yaml.safe_load(after)
    assert values["embedding"]["model"] == "multilingual-e5-small"
    assert {**wanted, "embedding": 0} == {**values, "embedding": 0}
    for line in before.splitlines():
        if line.startswith(("#", "port", "bind")):
            assert line in after


def test_a_file_is_made_when_there_is_none(run: Run, home: Path) -> None:
    assert run("models", "use", "none").code == 0
    assert yaml.safe_load((home / USUAL).read_text(encoding="utf-8")) == {"embedding": {"engine": "none"}}


def test_an_unknown_model_is_refused_and_nothing_is_written(run: Run, home: Path) -> None:
    said = run("models", "use", "gpt")
    assert said.code == 2
    assert "bge-small-en-v1.5" in said.err
    assert not (home / USUAL).exists()
