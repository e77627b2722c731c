"""Scores as they are shown: absolute, so that a good answer and a bad one look different in every project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from armillary_core.domain.query import MatchClass, NameHit
from armillary_core.ports.embedder import ModelFacts
from armillary_core.usecases.fusion import Found, Fusion, Place, Tier
from armillary_core.usecases.search_policy import SearchPolicy

_NAMES: Final[Mapping[MatchClass, float]] = {
    MatchClass.EXACT: 1.0,
    MatchClass.PREFIX: 0.7,
    MatchClass.WORDS: 0.6,
    MatchClass.FUZZY: 0.5,
    MatchClass.PARTIAL: 0.14,  # by itself below the floor
}


class Scores:
    """The larger of BM25 over what the question could reach, the cosine between the model's calibrated points, and
    what the name is worth."""

    def __init__(self, best: float, model: ModelFacts | None, policy: SearchPolicy) -> None:
        self._best = best
        self._model = model
        self._policy = policy

    def of(self, fusion: Fusion, place: Place) -> float:
        return max(self.words(fusion.bm25(place)), self.meaning(fusion.cosine(place)), self.name(fusion.name(place)))

    def is_relevant(self, found: Found) -> bool:
        """Whether anything found is above the floor."""
        best = max(
            max((self.words(hit.score) for hit in found.words), default=0.0),
            max((self.meaning(hit.score) for hit in found.meaning), default=0.0),
            max((self.name(hit) for hit in found.names), default=0.0),
        )
        return best >= self._policy.relevant_from

    def words(self, score: float | None) -> float:
        if score is None or self._best <= 0:
            return 0.0
        low, high = self._policy.words_floor, self._policy.words_ceiling
        return min(1.0, max(0.0, (score / self._best - low) / (high - low)))

    def meaning(self, cosine: float | None) -> float:
        if cosine is None or self._model is None:
            return 0.0
        span = self._model.cosine_ceiling - self._model.cosine_floor
        return min(1.0, max(0.0, (cosine - self._model.cosine_floor) / span)) if span > 0 else 0.0

    def name(self, hit: NameHit | None) -> float:
        return _NAMES[hit.match] * (0.5 + min(max(hit.score, 0.0), 1.0) / 2) if hit is not None else 0.0

    def explained(self, fusion: Fusion, place: Place) -> dict[str, float | str]:
        """Why a place is where it is."""
        told: dict[str, float | str] = {"fused": place.score}
        bm25, cosine, name = fusion.bm25(place), fusion.cosine(place), fusion.name(place)
        if bm25 is not None:
            told |= {"words": self.words(bm25), "bm25": bm25}
        if cosine is not None:
            told |= {"meaning": self.meaning(cosine), "cosine": cosine, "weight": fusion.evidence[place.pk].weight}
        if name is not None:
            told["names"] = name.match.value
        if fusion.evidence[place.pk].is_titled and place.is_first:
            told["title"] = "in the question"
        if place.tier != Tier.SCORED:
            told["tier"] = Tier(place.tier).name.lower()
        return told
