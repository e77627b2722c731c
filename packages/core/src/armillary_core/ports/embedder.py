"""Text to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the rest needs to know of a model."""

    name: str
    fingerprint: str  # name and hash of its weights: the key of cached vectors
    dimensions: int
    max_tokens: int
    languages: tuple[str, ...]  # ISO 639-1; ("en",) = English only, () = every language
    cosine_floor: float  # cosine of unrelated text: 0 on the shown scale
    cosine_ceiling: float  # cosine of a good answer: 1 on the shown scale


@dataclass(frozen=True, slots=True)
class EmbedderUnavailable:
    reason: str


class Embedder(Protocol):
    def facts(self) -> ModelFacts | EmbedderUnavailable:
        """Cheap; does not load the model."""

    async def query(self, text: str) -> list[float] | EmbedderUnavailable:
        """One question, with the model's query prefix."""

    async def passages(self, texts: Sequence[str]) -> list[list[float]] | EmbedderUnavailable:
        """Many texts, with the passage prefix, in order. Text longer than the model's window by its own tokenizer
        is split and its pieces' vectors averaged, never cut silently."""

    async def close(self) -> None: ...
