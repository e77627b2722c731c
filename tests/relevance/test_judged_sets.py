"""Judged public questions through the whole product stay above their floors. `make eval` shows the figures."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from armillary_cli.evaluation.__main__ import main
from armillary_cli.evaluation.report import read_figures

FLOORS = [
    pytest.param(row, id=f"{row['task']} {row['mode']}")
    for row in csv.DictReader(
        (Path(__file__).parent / "floors.tsv").read_text(encoding="utf-8").splitlines(), delimiter="\t"
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("floor", FLOORS)
def test_quality_stays_above_its_floor(floor: dict[str, str], shared_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = main(
        [
            *("--data", str(shared_folder / "eval"), "--sets", floor["set"], "--modes", floor["mode"]),
            *("--work", str(tmp_path / "work"), "--out", str(out)),
        ]
    )
    assert code == 0
    figures = {task: values for (task, *_), values in read_figures(out / "results.tsv").items()}
    assert figures[floor["task"]]["ndcg@10"] >= float(floor["ndcg@10"])
