"""The term dictionary: how many chunks of each project hold a token. IDF and spelling come from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.project import ProjectName


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    chunks: int  # card chunks included
    average_length: float
    documents: int = 0  # present ones


class TermStore(Protocol):
    def counts(self, projects: Sequence[ProjectName]) -> CorpusCounts:
        """Over these projects together."""

    def frequencies(self, projects: Sequence[ProjectName], token_ids: Sequence[int]) -> dict[int, int]:
        """Chunks of these projects that hold each token; 0 is left out."""

    def near(self, projects: Sequence[ProjectName], word: str, *, limit: int = 50) -> list[tuple[str, int]]:
        """(word, chunks) candidates that could be a misspelling's right form: surface words of these projects with
        the same first letter or the same first two letters swapped, or sharing letter bigrams, whose length
        differs by at most two. The caller computes the edit distance."""
