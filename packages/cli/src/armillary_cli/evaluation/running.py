"""Every question of a set through the product's search, written as a run that a scorer reads."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from armillary_cli.evaluation.indexing import project_of
from armillary_cli.evaluation.judged_sets import JudgedSet, Question, Unpacked
from armillary_cli.evaluation.places import Places
from armillary_core.bootstrap.container import Core
from armillary_core.domain.document import DocumentId, decode_path, split_id
from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import Detail, Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.usecases.search import Search
from armillary_core.usecases.search_policy import SearchPolicy

DEPTH = 100
SHOWN_PASSAGES = 20  # of each question, for sets that are scored by passages


@dataclass(frozen=True, slots=True)
class Timing:
    questions: int
    median_ms: float
    cpu_ms: float


class Runner:
    """Asks one set's questions. Documents count once, each with its best passage."""

    def __init__(self, core: Core, judged: JudgedSet, unpacked: Unpacked, mode: Mode) -> None:
        self._core = core
        self._judged = judged
        self._unpacked = unpacked
        self._mode = mode
        policy = replace(SearchPolicy(), max_limit=DEPTH)
        self._passages = self._search(policy)
        self._documents = self._search(replace(policy, max_per_document=1))
        self._part_of = {project_of(judged.name, part): part for part in unpacked.parts}

    def _search(self, policy: SearchPolicy) -> Search:
        core = self._core
        return Search(core.catalogue, core.cards, core.chunks, core.embedder, core.clock, policy)

    async def write_documents(self, questions: Sequence[Question], target: Path, *, part: str | None = None) -> Timing:
        """A TREC run. A set with parts is asked whole, and then part by part for what that did not show: whoever
        scores one part finds all of it."""
        parts = [part] if part is not None else [None, *(p for p in self._unpacked.parts if p)]
        times: list[float] = []
        cpu = time.process_time()
        lines: list[str] = []
        for question in questions:
            ranked: dict[str, None] = {}
            for number, wanted in enumerate(parts):
                started = time.perf_counter()
                found = await self._documents_for(question.text, wanted)
                if number == 0:
                    times.append((time.perf_counter() - started) * 1000)
                ranked.update(dict.fromkeys(found))
            lines.extend(
                f"{question.id} Q0 {document} {rank} {len(ranked) - rank + 1} armillary"
                for rank, document in enumerate(ranked, start=1)
            )
        spent = (time.process_time() - cpu) * 1000
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return _timing(times, spent / max(len(questions) * len(parts), 1))

    async def write_passages(self, questions: Sequence[Question], target: Path) -> Timing:
        """Passages with the characters of the original file that they cover, a JSON line a question."""
        times: list[float] = []
        cpu = time.process_time()
        places = Places(self._core, self._unpacked)
        with target.open("w", encoding="utf-8") as out:
            for question in questions:
                query = SearchQuery(question.text, mode=self._mode, limit=SHOWN_PASSAGES, detail=Detail.FULL)
                started = time.perf_counter()
                answer = await self._passages(query, LOCAL_OWNER)
                times.append((time.perf_counter() - started) * 1000)
                rows = [row for passage in answer.passages if (row := places.of(passage)) is not None]
                out.write(json.dumps({"id": question.id, "results": rows}) + "\n")
        return _timing(times, (time.process_time() - cpu) * 1000 / max(len(questions), 1))

    async def _documents_for(self, text: str, part: str | None) -> list[str]:
        project = project_of(self._judged.name, part) if part is not None else None
        query = SearchQuery(text, mode=self._mode, project=project, limit=DEPTH, detail=Detail.REFS)
        answer = await self._documents(query, LOCAL_OWNER)
        return [
            identifier
            for passage in answer.passages
            for document in (passage.document, *passage.also_in)
            if (identifier := self._identifier(document)) is not None
        ]

    def _identifier(self, document: DocumentId) -> str | None:
        split = split_id(document)
        if split is None:
            return None
        project, path, _ = split
        key = (self._part_of.get(ProjectName(project), ""), decode_path(path).decode("utf-8", "replace"))
        identifier = self._unpacked.ids.get(key)
        return identifier if identifier is None or not re.search(r"\s", identifier) else None


def _timing(times: list[float], cpu_ms: float) -> Timing:
    ordered = sorted(times)
    return Timing(len(times), ordered[len(ordered) // 2] if ordered else 0.0, cpu_ms)
