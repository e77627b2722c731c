"""Scores by our formulas: numbers worked out by hand, and the judged data's own scorer where it is at hand."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from armillary_cli.evaluation.judged_sets import JudgedSet, Task
from armillary_cli.evaluation.places import align
from armillary_cli.evaluation.report import Baselines, Figure, read_figures, table, write_figures
from armillary_cli.evaluation.scoring import METRICS, Scorer, own_score


def make_judged(folder: Path, judgements: dict[str, dict[str, int]], groups: dict[str, str] | None = None) -> JudgedSet:
    (folder / "dev").mkdir(parents=True)
    rows = [f"{q}\t{d}\t{grade}\n" for q, grades in judgements.items() for d, grade in grades.items()]
    (folder / "dev" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    (folder / "dev" / "queries.jsonl").write_text(
        "".join(f'{{"id": "{q}", "text": "?", "group": "{(groups or {}).get(q, "g")}"}}\n' for q in judgements)
    )
    return JudgedSet(folder.name, folder, "dev")


def make_run(file: Path, ranked: dict[str, list[str]]) -> Path:
    file.write_text(
        "".join(
            f"{q} Q0 {d} {rank} {len(documents) - rank} x\n"
            for q, documents in ranked.items()
            for rank, d in enumerate(documents, start=1)
        )
    )
    return file


def test_scores_are_what_the_formulas_say(tmp_path: Path) -> None:
    judged = make_judged(tmp_path / "set", {"q": {"a": 2, "b": 1, "c": 0, "d": 1}, "unanswered": {"a": 1}})
    run = make_run(tmp_path / "run.trec", {"q": ["x", "b", "a", "c", "y", "d"]})
    values = own_score(judged, Task("set"), run).values
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    gain = 1 / math.log2(3) + 2 / math.log2(4) + 1 / math.log2(7)
    assert values["ndcg@10"] == pytest.approx(gain / ideal / 2)
    assert values["recall@10"] == pytest.approx(0.5)
    assert values["mrr@10"] == pytest.approx(0.25)
    assert values["success@5"] == pytest.approx(0.5)


def test_a_task_scores_its_groups_and_documents_only(tmp_path: Path) -> None:
    judged = make_judged(
        tmp_path / "set", {"q1": {"en-a": 1, "ru-a": 1}, "q2": {"en-b": 1}}, groups={"q1": "one", "q2": "two"}
    )
    run = make_run(tmp_path / "run.trec", {"q1": ["en-a"], "q2": ["en-x"]})
    score = own_score(judged, Task("set", ("one",), "en-"), run)
    assert (score.questions, score.values["ndcg@10"], score.values["recall@10"]) == (1, 1.0, 1.0)


def test_our_scores_are_those_of_the_judged_datas_scorer(shared_folder: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    documents = [f"d{number}" for number in range(40)]
    judged = make_judged(
        tmp_path / "set",
        {f"q{n}": {d: chance.randint(0, 3) for d in chance.sample(documents, 6)} | {"d0": 1} for n in range(25)},
    )
    run = make_run(tmp_path / "run.trec", {f"q{n}": chance.sample(documents, 30) for n in range(24)})
    theirs = Scorer(shared_folder / "eval").score(judged, Task("set"), run)
    ours = own_score(judged, Task("set"), run)
    assert theirs.questions == ours.questions
    for name in METRICS:
        assert theirs.values[name] == pytest.approx(ours.values[name], abs=1e-5)


def test_results_are_kept_by_task_and_mode(tmp_path: Path) -> None:
    file = tmp_path / "results.tsv"
    first = Figure("a", "dev", "none", "keyword", 3, {"ndcg@10": 0.5})
    write_figures(file, [first, Figure("b", "dev", "none", "keyword", 4, {"ndcg@10": 0.25})])
    write_figures(file, [Figure("a", "dev", "none", "keyword", 3, {"ndcg@10": 0.75})])
    found = read_figures(file)
    assert found[("a", "dev", "none", "keyword")]["ndcg@10"] == 0.75
    assert found[("b", "dev", "none", "keyword")]["ndcg@10"] == 0.25
    assert "0.7500" in table([first], Baselines(tmp_path, "dev"), file)


def test_the_baseline_beside_a_figure_is_the_best_comparable_one(tmp_path: Path) -> None:
    (tmp_path / "baselines.dev.tsv").write_text(
        "task\tsystem\tndcg@10\n"
        "a\tbm25\t0.30\na\tbm25-identsplit\t0.40\na\trrf-k60+bge-small-en-int8\t0.90\n"
        "a\tcc-0.5+bge-small-en-int8\t0.50\na\tcc-0.6+bge-small-en-int8-identsplit\t0.55\n"
        "a\tcc-0.8+bge-small-en-int8\t0.95\na\tcc-0.5+minilm-l6-int8\t0.60\n"
        "b\tcc-0.5+minilm-l6-int8\t0.70\n"
    )
    baselines = Baselines(tmp_path, "dev")
    assert baselines.keyword("a") == ("bm25-identsplit", 0.40)
    assert baselines.hybrid("a", "bge-small-en-v1.5") == ("cc-0.6+bge-small-en-int8-identsplit", 0.55)
    assert baselines.hybrid("b", "bge-small-en-v1.5") == ("cc-0.5+minilm-l6-int8", 0.70)
    assert baselines.keyword("unknown") is None


def test_passages_are_found_again_in_the_original_text() -> None:
    original = "---\ntitle: T\n---\n# Head\r\n\r\n<Note>  first line\r\nsecond line\r\n"
    extracted = "# Head\n\nfirst line\nsecond line\n"
    places = align(extracted, original)
    start = extracted.index("second")
    assert len(places) == len(extracted) + 1
    assert original[places[start] :].startswith("second line")
    assert original[places[0] :].startswith("# Head")
