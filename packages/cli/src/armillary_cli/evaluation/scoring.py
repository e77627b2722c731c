"""Scores of a run: by the judged data's own scorer where it is there, else by the same formulas here."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armillary_cli.evaluation.judged_sets import JudgedSet, Task

METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5")
Judgements = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Score:
    questions: int
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Difference:
    difference: float
    p: float


class Scorer:
    def __init__(self, data: Path) -> None:
        self._program = data / "score.py"

    def score(self, judged: JudgedSet, task: Task, run: Path) -> Score:
        if not self._program.is_file():
            return own_score(judged, task, run)
        answer = self._ask("eval", *self._scope(judged, task), "--run", str(run), "--metrics", ",".join(METRICS))
        (scored,) = answer["runs"].values()
        return Score(answer["queries"], {name: value["mean"] for name, value in scored["metrics"].items()})

    def spans(self, judged: JudgedSet, run: Path) -> Score | None:
        """Share of the wanted characters found, and of those shown that were wanted; None without the scorer."""
        if not self._program.is_file():
            return None
        answer = self._ask("spans", "--queries", str(judged.questions_file), "--run", str(run))
        (scored,) = answer["runs"].values()
        return Score(answer["queries"], {name: value["mean"] for name, value in scored.items()})

    def compare(self, judged: JudgedSet, task: Task, before: Path, after: Path) -> Difference | None:
        """nDCG@10 of two runs with the p of a paired randomisation test; None without the scorer."""
        if not self._program.is_file() or not before.is_file():
            return None
        answer = self._ask(
            "cmp", *self._scope(judged, task), "--run", str(before), "--run", str(after), "--metrics", "ndcg@10"
        )
        found = answer["metrics"]["ndcg@10"]
        return Difference(found["diff"], found["p"])

    def _scope(self, judged: JudgedSet, task: Task) -> list[str]:
        scope = ["--qrels", str(judged.judgements_file), "--queries", str(judged.questions_file)]
        for group in task.groups:
            scope += ["--group", group]
        return [*scope, "--doc-prefix", task.prefix] if task.prefix else scope

    def _ask(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(self._program), *arguments, "--json"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"score.py {arguments[0]}: {done.stderr.strip() or done.returncode}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def own_score(judged: JudgedSet, task: Task, run: Path) -> Score:
    judgements = _judgements(judged, task)
    ranked = _ranked(run)
    values = {
        name: sum(_metric(name, ranked.get(question, []), relevant) for question, relevant in judgements.items())
        / max(len(judgements), 1)
        for name in METRICS
    }
    return Score(len(judgements), values)


def _judgements(judged: JudgedSet, task: Task) -> Judgements:
    asked = {question.id for question in judged.questions() if not task.groups or question.group in task.groups}
    found: Judgements = defaultdict(dict)
    for line in judged.judgements_file.read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if question in asked and (task.prefix is None or document.startswith(task.prefix)):
            found[question][document] = int(grade)
    return {question: grades for question, grades in found.items() if any(grade > 0 for grade in grades.values())}


def _ranked(run: Path) -> dict[str, list[str]]:
    scores: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in run.read_text(encoding="utf-8").splitlines():
        question, _, document, _, score, _ = line.split()
        scores[question].append((float(score), document))
    return {question: [document for _, document in sorted(rows, reverse=True)] for question, rows in scores.items()}


def _metric(name: str, ranked: list[str], relevant: dict[str, int]) -> float:
    kind, _, depth = name.partition("@")
    top = ranked[: int(depth)]
    grades = [max(relevant.get(document, 0), 0) for document in top]
    if kind == "ndcg":
        ideal = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[: int(depth)]
        return _gain(grades) / _gain(ideal)
    places = [place for place, grade in enumerate(grades, start=1) if grade]
    if kind == "recall":
        return len(places) / sum(grade > 0 for grade in relevant.values())
    if kind == "mrr":
        return 1 / places[0] if places else 0.0
    return float(bool(places))


def _gain(grades: list[int]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, start=1))
