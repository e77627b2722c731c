"""Scores as they are shown: absolute, so that a good answer and a bad one look different in every project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from armillary_core.domain.query import MatchClass, NameHit
from armillary_core.ports.embedder import ModelFacts
from armillary_core.usecases.fusion import Ranked, Tier
from armillary_core.usecases.passages import Scored
from armillary_core.usecases.search_policy import SearchPolicy

_NAMES: Final[Mapping[MatchClass, float]] = {
    MatchClass.EXACT: 1.0,
    MatchClass.PREFIX: 0.7,
    MatchClass.WORDS: 0.6,
    MatchClass.FUZZY: 0.5,
    MatchClass.PARTIAL: 0.3,
}


class Scores:
    """The larger of BM25 over what the question could reach, the cosine between the model's calibrated points, and
    what the name is worth."""

    def __init__(self, best: float, model: ModelFacts | None, policy: SearchPolicy) -> None:
        self._best = best
        self._model = model
        self._policy = policy

    def of(self, place: Ranked) -> float:
        return max(self.words(place.words), self.meaning(place.meaning), self.name(place.name))

    def words(self, score: float | None) -> float:
        if score is None or self._best <= 0:
            return 0.0
        return min(1.0, score / self._best / self._policy.words_ceiling)

    def meaning(self, cosine: float | None) -> float:
        if cosine is None or self._model is None:
            return 0.0
        span = self._model.cosine_ceiling - self._model.cosine_floor
        return min(1.0, max(0.0, (cosine - self._model.cosine_floor) / span)) if span > 0 else 0.0

    def name(self, hit: NameHit | None) -> float:
        return _NAMES[hit.match] * (0.5 + min(max(hit.score, 0.0), 1.0) / 2) if hit is not None else 0.0

    def scored(self, places: Sequence[Ranked], *, explain: bool) -> list[Scored]:
        return [Scored(place, self.of(place), self._explained(place) if explain else None) for place in places]

    def _explained(self, place: Ranked) -> dict[str, float | str]:
        told: dict[str, float | str] = {"fused": place.score}
        if place.words is not None:
            told |= {"words": self.words(place.words), "bm25": place.words}
        if place.meaning is not None:
            told |= {"meaning": self.meaning(place.meaning), "cosine": place.meaning, "weight": place.weight}
        if place.name is not None:
            told["names"] = place.name.match.value
        if place.tier is not Tier.SCORED:
            told["tier"] = place.tier.name.lower()
        return told
