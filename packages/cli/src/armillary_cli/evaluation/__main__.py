"""`make eval`: judged questions through the whole product, beside what is known to be reachable."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from armillary_cli.evaluation.indexing import indexed, tell
from armillary_cli.evaluation.judged_sets import JudgedSet, Task, find_sets, unpack
from armillary_cli.evaluation.report import Baselines, Figure, table, write_figures
from armillary_cli.evaluation.running import Runner, Timing
from armillary_cli.evaluation.scoring import Scorer
from armillary_cli.evaluation.typos import misspelled
from armillary_core.bootstrap.embedding import fetch, model_named
from armillary_core.domain.errors import AppError
from armillary_core.domain.query import Mode
from armillary_core.settings.model import Settings


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m armillary_cli.evaluation", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/eval"), help="folder with a folder a set")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--sets", default="", help="names with commas between; all of them when empty")
    parser.add_argument("--modes", default="keyword,hybrid")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="an embedding model, or none")
    parser.add_argument("--out", type=Path, help="where runs go; OUT/<set>.<mode>.trec")
    parser.add_argument("--before", type=Path, help="the OUT of an earlier run, to compare with")
    parser.add_argument("--work", type=Path, default=Path("~/.cache/armillary-eval"), help="indexes, models, vectors")
    parser.add_argument("--results", type=Path, default=Path("tests/relevance/results.tsv"), help="committed figures")
    parser.add_argument("--typos", action="store_true", help="one typing mistake in every question, always the same")
    parser.add_argument("--write-results", action="store_true", help="put the new figures there")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parse(sys.argv[1:] if arguments is None else arguments)
    work = asked.work.expanduser().absolute()
    out: Path = (asked.out or work / "out").absolute()
    out.mkdir(parents=True, exist_ok=True)
    modes = [Mode(name) for name in asked.modes.split(",") if name]
    sets = find_sets(asked.data, asked.split, [name for name in asked.sets.split(",") if name])
    if not sets:
        print(f"No judged set with a folder {asked.split!r} in {asked.data}. Set EVAL_DATA.", file=sys.stderr)
        return 2
    try:
        model = _ready_model(asked.model, modes, work)
        figures = asyncio.run(_evaluate(asked, sets, modes, model, work, out))
    except AppError as failed:
        print(failed.message, file=sys.stderr)
        return 2
    print(table(figures, Baselines(asked.data, asked.split), asked.results))
    print(f"Runs are in {out}.")
    write_figures(out / "results.tsv", figures)
    if asked.write_results:
        write_figures(asked.results, figures)
    return 0


def _ready_model(name: str, modes: Sequence[Mode], work: Path) -> str | None:
    """None when no mode needs one. Raises AppError when it cannot be had."""
    if name == "none" or all(mode is Mode.KEYWORD for mode in modes):
        return None
    model_named(name)
    work.mkdir(parents=True, exist_ok=True)
    fetch(Settings(data=work), name)
    return name


async def _evaluate(
    asked: argparse.Namespace,
    sets: Sequence[JudgedSet],
    modes: Sequence[Mode],
    model: str | None,
    work: Path,
    out: Path,
) -> list[Figure]:
    scorer = Scorer(asked.data)
    figures: list[Figure] = []
    for judged in sets:
        tell(f"{judged.name}:")
        folder = work / judged.name
        folder.mkdir(parents=True, exist_ok=True)
        unpacked = unpack(judged, folder)
        async with indexed(judged.name, unpacked, work, model) as core:
            for mode in modes:
                runner = Runner(core, judged, unpacked, mode)
                made = await _run(runner, judged, mode, out, typos=asked.typos)
                for task, (run, timing) in made.items():
                    figures.append(_figure(scorer, judged, task, mode, model, run, timing, asked.before))
    return [figure for figure in figures if figure.values]


async def _run(
    runner: Runner, judged: JudgedSet, mode: Mode, out: Path, *, typos: bool
) -> dict[Task, tuple[Path, Timing]]:
    """The run of the whole set, and one of each part that a task looks at alone."""
    questions = misspelled(judged.questions()) if typos else judged.questions()
    if judged.wants_spans:
        run = out / f"{judged.name}.{mode}.jsonl"
        return {Task(judged.name): (run, await runner.write_passages(questions, run))}
    whole = out / f"{judged.name}.{mode}.trec"
    timing = await runner.write_documents(questions, whole)
    made: dict[Task, tuple[Path, Timing]] = {}
    for task in judged.tasks:
        if task.part is None:
            made[task] = (whole, timing)
            continue
        run = out / f"{task.name.replace(' ', '-').replace('→', '-')}.{mode}.trec"
        mine = [question for question in questions if not task.groups or question.group in task.groups]
        made[task] = (run, await runner.write_documents(mine, run, part=task.part))
    return made


def _figure(
    scorer: Scorer,
    judged: JudgedSet,
    task: Task,
    mode: Mode,
    model: str | None,
    run: Path,
    timing: Timing,
    before: Path | None,
) -> Figure:
    score = scorer.spans(judged, run) if judged.wants_spans else scorer.score(judged, task, run)
    change = None
    if before is not None and not judged.wants_spans:
        change = scorer.compare(judged, task, before / run.name, run)
    return Figure(
        task=task.name,
        split=judged.split,
        model="none" if mode is Mode.KEYWORD else model or "none",
        mode=mode,
        questions=score.questions if score else timing.questions,
        values=score.values if score else {},
        median_ms=timing.median_ms,
        cpu_ms=timing.cpu_ms,
        difference=change.difference if change else None,
        p=change.p if change else None,
    )


if __name__ == "__main__":
    raise SystemExit(main())
