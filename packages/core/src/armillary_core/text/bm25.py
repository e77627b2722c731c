"""Textbook BM25 in two halves: a chunk's vector holds the term-frequency part, a question's vector the rarity of words.

Their dot product is the score. N and document frequencies come from the catalogue, never from an engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from armillary_core.domain.chunk import TermCounts
from armillary_core.domain.query import SparseVector

K1: Final = 1.2
B: Final = 0.75


def term_weights(terms: TermCounts, average_length: float, *, k1: float = K1, b: float = B) -> SparseVector:
    """The term-frequency part of a chunk: count · (k1 + 1) / (count + k1 · (1 − b + b · length / average))."""
    counts = terms.counts
    if not counts:
        return SparseVector()
    length = sum(counts)
    norm = k1 * (1 - b + b * (length / average_length if average_length > 0 else 1.0))
    by_count = {count: count * (k1 + 1) / (count + norm) for count in set(counts)}
    return SparseVector(tuple(terms.ids), tuple([by_count[count] for count in counts]))


def idf(chunks: int, frequency: int) -> float:
    """Rarity of a word that `frequency` of `chunks` chunks hold; always above zero."""
    frequency = min(frequency, chunks)
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def query_vector(weights: Mapping[int, float]) -> SparseVector:
    """A question's vector from count × IDF by token id; the same weights give the same vector."""
    ids = tuple(sorted(token for token, weight in weights.items() if weight > 0))
    return SparseVector(ids, tuple([weights[token] for token in ids]))


def best_score(weights: Iterable[float], *, k1: float = K1) -> float:
    """What a chunk would score at most that is all about these words: every term-frequency part at its limit."""
    return sum(weights) * (k1 + 1)
