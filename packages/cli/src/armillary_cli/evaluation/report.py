"""Figures beside those they are measured against: the judged data's baselines and the last committed result."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

KEYS = ("task", "split", "model", "mode", "questions")
# Sets that are judged by the characters of passages have the last two, all others the rest.
METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5", "recall@5", "precision@5")
COLUMNS = (*KEYS, *METRICS)
# What a model is called in the baselines, the exact one first.
BASELINE_MODELS = {
    "bge-small-en-v1.5": ("bge-small-en-int8", "minilm-l6-int8"),
    "multilingual-e5-small": ("multilingual-e5-small-int8",),
}


@dataclass(frozen=True, slots=True)
class Figure:
    task: str
    split: str
    model: str  # "none" without one
    mode: str
    questions: int
    values: dict[str, float]
    median_ms: float = 0.0
    cpu_ms: float = 0.0
    difference: float | None = None  # of nDCG@10 to an earlier run
    p: float | None = None


class Baselines:
    """Best comparable rows of `baselines.<split>.tsv`."""

    def __init__(self, data: Path, split: str) -> None:
        self._rows: list[dict[str, str]] = []
        file = data / f"baselines.{split}.tsv"
        if file.is_file():
            with file.open(encoding="utf-8", newline="") as stream:
                self._rows = list(csv.DictReader(stream, delimiter="\t"))

    def keyword(self, task: str) -> tuple[str, float] | None:
        """The best plain keyword system."""
        return self._best(
            task,
            lambda system: system.startswith(("bm25", "fts5", "tantivy")) and "+" not in system,
        )

    def hybrid(self, task: str, model: str) -> tuple[str, float] | None:
        """The best convex combination of a plausible weight with this model."""
        for name in BASELINE_MODELS.get(model, ()):
            weights = ("cc-0.5", "cc-0.6", "cc-0.8") if "ru→en" in task or "ru-" in task else ("cc-0.5", "cc-0.6")
            found = self._best(task, lambda system, name=name, weights=weights: _is_of(system, name, weights))
            if found is not None:
                return found
        return None

    def _best(self, task: str, wanted: object) -> tuple[str, float] | None:
        assert callable(wanted)
        rows = [
            (row["system"], float(row["ndcg@10"]))
            for row in self._rows
            if row["task"] == task and wanted(row["system"])
        ]
        return max(rows, key=lambda row: row[1]) if rows else None


def _is_of(system: str, model: str, weights: Sequence[str]) -> bool:
    fusion, _, rest = system.partition("+")
    return fusion in weights and (rest == model or rest.startswith(f"{model}-"))


def read_figures(file: Path) -> dict[tuple[str, str, str, str], dict[str, float]]:
    """Committed results by (task, split, model, mode)."""
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {
            (row["task"], row["split"], row["model"], row["mode"]): {
                name: float(row[name]) for name in METRICS if row.get(name)
            }
            for row in csv.DictReader(stream, delimiter="\t")
        }


def write_figures(file: Path, figures: Iterable[Figure]) -> None:
    """Replace these figures in a results file and keep the others."""
    known = {key: (0, values) for key, values in read_figures(file).items()}
    questions = _questions(file)
    for figure in figures:
        key = (figure.task, figure.split, figure.model, figure.mode)
        known[key] = (figure.questions, figure.values)
        questions[key] = figure.questions
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for key in sorted(known):
            values = known[key][1]
            writer.writerow(
                [
                    *key,
                    questions.get(key, 0),
                    *(f"{values[name]:.4f}" if name in values else "" for name in METRICS),
                ]
            )


def _questions(file: Path) -> dict[tuple[str, str, str, str], int]:
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {
            (row["task"], row["split"], row["model"], row["mode"]): int(row["questions"])
            for row in csv.DictReader(stream, delimiter="\t")
        }


def table(figures: Sequence[Figure], baselines: Baselines, committed: Path) -> str:
    """For people: one line a task and mode."""
    before = read_figures(committed)
    head = ("task", "mode", "n", "nDCG@10", "last", "keyword row", "cc row", "R@10", "R@100", "MRR", "p50 ms", "CPU ms")
    rows: list[tuple[str, ...]] = [head]
    for figure in figures:
        last = before.get((figure.task, figure.split, figure.model, figure.mode), {}).get("ndcg@10")
        keyword, hybrid = baselines.keyword(figure.task), baselines.hybrid(figure.task, figure.model)
        main = figure.values.get("ndcg@10")
        change = f" {figure.difference:+.3f} p={figure.p:.3f}" if figure.difference is not None else ""
        shown = f"{main:.4f}{change}" if main is not None else _spans(figure)
        rows.append(
            (
                figure.task,
                figure.mode,
                str(figure.questions),
                shown,
                "" if last is None else f"{last:.4f}",
                _beside(main, keyword),
                "" if figure.mode == "keyword" else _beside(main, hybrid),
                *(_value(figure, name) for name in ("recall@10", "recall@100", "mrr@10")),
                f"{figure.median_ms:.1f}",
                f"{figure.cpu_ms:.1f}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _value(figure: Figure, name: str) -> str:
    return f"{figure.values[name]:.3f}" if name in figure.values else ""


def _spans(figure: Figure) -> str:
    return f"R@5 {_value(figure, 'recall@5')} P@5 {_value(figure, 'precision@5')}"


def _beside(value: float | None, row: tuple[str, float] | None) -> str:
    if row is None or value is None:
        return ""
    system, best = row
    return f"{best:.4f} ({value - best:+.3f}) {system.split('+')[0]}"
