"""The term dictionary."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.rows import NAMED_PROJECTS, json_list
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.terms import CorpusCounts, TermStore


class SqliteTerms(TermStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def counts(self, projects: Sequence[ProjectName]) -> CorpusCounts:
        with self._database.read() as connection:
            chunks, tokens, documents = connection.execute(
                "SELECT coalesce(sum(chunks), 0), coalesce(sum(tokens), 0), coalesce(sum(documents), 0) FROM project "
                "WHERE name IN (SELECT value FROM json_each(?))",
                (json_list(projects),),
            ).fetchone()
        return CorpusCounts(chunks, tokens / chunks if chunks else 0.0, documents)

    @override
    def frequencies(self, projects: Sequence[ProjectName], token_ids: Sequence[int]) -> dict[int, int]:
        with self._database.read() as connection:
            # The plus keeps SQLite from trying every project for every token: a token is in few projects.
            rows = connection.execute(
                "SELECT token, sum(chunks) FROM term WHERE token IN (SELECT value FROM json_each(?)) "
                f"AND +project IN {NAMED_PROJECTS} GROUP BY token",
                (json_list(token_ids), json_list(projects)),
            )
            return dict(rows.fetchall())

    @override
    def near(self, projects: Sequence[ProjectName], word: str, *, limit: int = 50) -> list[tuple[str, int]]:
        if len(word) < 2:
            return []
        with self._database.read() as connection:
            found = _candidates(connection, projects, word)
        found.pop(word, None)
        pairs = _pairs(word)
        ranked = sorted(
            found.items(), key=lambda item: (-_alike(pairs, item[0]), abs(len(item[0]) - len(word)), -item[1], item[0])
        )
        return ranked[:limit]


def _candidates(connection: sqlite3.Connection, projects: Sequence[ProjectName], word: str) -> Counter[str]:
    """Words that begin alike (the first two letters as they are or swapped; for short words the first alone) or end
    alike: one mistake cannot spoil both ends of a longer word."""
    starts = {word[:1]} if len(word) <= 5 else {word[:2], word[1] + word[0]}
    starts.add(word[1] + word[0])
    found: Counter[str] = Counter()
    seen: set[tuple[int, str]] = set()
    bounds = (len(word) - 2, len(word) + 2)
    queries: list[tuple[str, tuple[str | int, ...]]] = [
        ("word >= ? AND word < ? AND length(word) BETWEEN ? AND ?", (start, f"{start}\U0010ffff", *bounds))
        for start in sorted(starts)
    ]
    queries.append(("substr(word, -2) = ? AND length(word) BETWEEN ? AND ?", (word[-2:], *bounds)))
    for condition, parameters in queries:
        rows = connection.execute(
            f"SELECT project, word, chunks FROM term WHERE project IN {NAMED_PROJECTS} AND {condition}",
            (json_list(projects), *parameters),
        )
        for project, other, chunks in rows:
            if (project, other) not in seen:
                seen.add((project, other))
                found[other] += chunks
    return found


def _pairs(word: str) -> set[str]:
    edged = f" {word} "
    return {edged[at : at + 2] for at in range(len(edged) - 1)}


def _alike(pairs: set[str], other: str) -> float:
    """Shared letter pairs, ends included, in proportion to both words (Dice)."""
    theirs = _pairs(other)
    return 2 * len(pairs & theirs) / (len(pairs) + len(theirs))
