"""From the hits of three legs to one order: by scores, not ranks; pure and the same every time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from armillary_core.domain.chunk import CARD_ORDINAL
from armillary_core.domain.query import Hit, MatchClass, NameHit
from armillary_core.usecases.search_policy import SearchPolicy

_DIGITS = 9  # scores that differ less are equal


class Tier(IntEnum):
    """Exact matches come before everything that is only scored."""

    EXACT_TITLE = 0  # title, file name or path
    EXACT_CHAPTER = 1  # a heading or identifier that few documents have
    SCORED = 2


@dataclass(frozen=True, slots=True)
class Found:
    """What the legs found; an empty leg found nothing or did not run."""

    words: Sequence[Hit] = ()
    meaning: Sequence[Hit] = ()
    names: Sequence[NameHit] = ()

    @property
    def documents(self) -> set[int]:
        """Every document any leg found."""
        found = {hit.key >> 20 for hits in (self.words, self.meaning) for hit in hits}
        found.update(hit.document for hit in self.names)
        return found


@dataclass(slots=True)
class Evidence:
    """What all legs say of one document: (normalised, raw) by chunk ordinal, and its best name."""

    words: dict[int, tuple[float, float]] = field(default_factory=dict)
    meaning: dict[int, tuple[float, float]] = field(default_factory=dict)
    name: NameHit | None = None
    weight: float = 0.0  # of meaning
    is_titled: bool = False  # its title stands in the question


class Place(NamedTuple):
    """One place to show, as places are ordered. The first place of a document stands for all of it."""

    tier: int
    below: float  # the score, negative
    pk: int
    ordinal: int  # of the chunk; -1 = the document's lead
    is_first: bool

    @property
    def score(self) -> float:
        return -self.below


@dataclass(frozen=True, slots=True)
class Fusion:
    """Places in order, with what they rest on."""

    places: tuple[Place, ...]
    evidence: Mapping[int, Evidence]

    def bm25(self, place: Place) -> float | None:
        """Of the chunk; for a first place, the best of the document."""
        return _raw(self.evidence[place.pk].words, place)

    def cosine(self, place: Place) -> float | None:
        return _raw(self.evidence[place.pk].meaning, place)

    def name(self, place: Place) -> NameHit | None:
        return self.evidence[place.pk].name if place.is_first else None


def fuse(
    found: Found,
    known: Mapping[int, str | None],
    *,
    meaning_weight: Callable[[int], float],
    rank_of_ties: Callable[[Sequence[int]], Mapping[int, int]],
    policy: SearchPolicy,
    settled: int,
    titled: Collection[int] = (),
) -> Fusion:
    """Exact names first, then by score.

    `known` is the content hash of each document that may be shown: others are left out, and of equal hashes only the
    best placed document stays. The titles of those `titled` stand in the question. `rank_of_ties` orders documents with
    equal scores; it is asked for those among the first `settled` places.
    """
    evidence = _gather(found, known)
    is_generic = _is_generic(found.names, policy)
    places: list[Place] = []
    for pk, one in evidence.items():
        if found.meaning:
            one.weight = meaning_weight(pk)
        one.is_titled = pk in titled
        _add_places(places, pk, one, is_generic=is_generic, policy=policy)
    places.sort()
    _settle_ties(places, settled, rank_of_ties)
    return Fusion(tuple(_collapsed(places, known)), evidence)


def normalised(hits: Sequence[Hit]) -> list[float]:
    """Min-max over one leg; a single score, or several equal ones, count as 1."""
    if not hits:
        return []
    scores = [hit.score for hit in hits]
    low = min(scores)
    span = max(scores) - low
    return [(score - low) / span for score in scores] if span > 0 else [1.0] * len(scores)


def spread(places: Sequence[Place], *, policy: SearchPolicy) -> list[Place]:
    """A few places of one document at their own score; each further one has to be better by `crowding` more than the
    one before to stand where it stood; what is beyond the most of one document comes after all others."""
    seen: dict[int, int] = {}
    ranked: list[tuple[bool, int, float, int, Place]] = []
    for number, place in enumerate(places):
        count = seen[place.pk] = seen.get(place.pk, 0) + 1
        loss = policy.crowding * max(0, count - policy.free_per_document)
        ranked.append((count > policy.max_per_document, place.tier, round(place.below + loss, _DIGITS), number, place))
    return [place for *_, place in sorted(ranked)]


def one_each(places: Sequence[Place]) -> list[Place]:
    """The best place of each document."""
    return [place for place in places if place.is_first]


def chapter_of(fusion: Fusion, place: Place) -> int | None:
    """The chapter to show when its name is why the place is where it is."""
    name = fusion.name(place)
    return name.chapter if name is not None and place.tier == Tier.EXACT_CHAPTER else None


# --- what the legs say of each document ---


def _gather(found: Found, known: Mapping[int, str | None]) -> dict[int, Evidence]:
    evidence: dict[int, Evidence] = {}
    for hits, is_meaning in ((found.words, False), (found.meaning, True)):
        for hit, score in zip(hits, normalised(hits), strict=True):
            pk, ordinal = hit.key >> 20, hit.key & CARD_ORDINAL
            one = evidence.get(pk)
            if one is None:
                if pk not in known:
                    continue
                one = evidence[pk] = Evidence()
            (one.meaning if is_meaning else one.words)[ordinal] = (score, hit.score)
    for name in found.names:
        if name.document in known:
            one = evidence.setdefault(name.document, Evidence())
            if one.name is None or _strength(name) > _strength(one.name):
                one.name = name
    return evidence


_STRENGTH = {match: -number for number, match in enumerate(MatchClass)}


def _strength(name: NameHit) -> tuple[int, float, int]:
    return _STRENGTH[name.match], name.score, 1 if name.chapter is None else -name.chapter


def _is_generic(names: Sequence[NameHit], policy: SearchPolicy) -> bool:
    """Whether the question is a heading that many documents have, such as `Usage`."""
    having = {name.document for name in names if name.match is MatchClass.EXACT and name.chapter is not None}
    return len(having) > policy.exact_chapters


# --- places ---


def _add_places(places: list[Place], pk: int, one: Evidence, *, is_generic: bool, policy: SearchPolicy) -> None:
    """The document's best place with the score of the whole document, then its further chunks with their own."""
    weight, words, meaning = one.weight, one.words, one.meaning
    if not meaning:
        mixed = {ordinal: (1 - weight) * score for ordinal, (score, _) in words.items()}
    else:
        mixed = {
            ordinal: (1 - weight) * words.get(ordinal, _NONE)[0] + weight * meaning.get(ordinal, _NONE)[0]
            for ordinal in words.keys() | meaning.keys()
        }
    whole = (1 - weight) * _best(words) + weight * _best(meaning)
    mixed.pop(CARD_ORDINAL, None)
    chunks = sorted(mixed, key=lambda ordinal: (-mixed[ordinal], ordinal)) if len(mixed) > 1 else list(mixed)
    tier, bonus = _name_worth(one.name, is_generic=is_generic, policy=policy)
    if one.is_titled:
        bonus = max(bonus, policy.title_bonus)
    places.append(Place(tier, -round(whole + bonus, _DIGITS), pk, chunks[0] if chunks else -1, True))
    places += [Place(Tier.SCORED, -round(mixed[ordinal], _DIGITS), pk, ordinal, False) for ordinal in chunks[1:]]


_NONE = (0.0, 0.0)


def _best(scores: Mapping[int, tuple[float, float]]) -> float:
    return max(scores.values())[0] if scores else 0.0


def _raw(scores: Mapping[int, tuple[float, float]], place: Place) -> float | None:
    if place.is_first:
        return max(scores.values())[1] if scores else None
    return scores[place.ordinal][1] if place.ordinal in scores else None


def _name_worth(name: NameHit | None, *, is_generic: bool, policy: SearchPolicy) -> tuple[Tier, float]:
    """The tier a name puts its document in, and what it adds to the score."""
    if name is None:
        return Tier.SCORED, 0.0
    bonus = policy.names_bonus * policy.name_shares[name.match] * (0.5 + min(max(name.score, 0.0), 1.0) / 2)
    if name.match is not MatchClass.EXACT:
        return Tier.SCORED, bonus
    if name.chapter is None:
        return (Tier.EXACT_TITLE if name.score >= policy.exact_name else Tier.SCORED), bonus
    return (Tier.SCORED if is_generic else Tier.EXACT_CHAPTER), bonus


def _settle_ties(places: list[Place], settled: int, rank_of_ties: Callable[[Sequence[int]], Mapping[int, int]]) -> None:
    """Order equal places by document, so that a rebuilt index gives the same order."""
    groups: list[tuple[int, int]] = []
    start = 0
    while start < min(settled, len(places)):
        end = start + 1
        while end < len(places) and places[end][:2] == places[start][:2]:
            end += 1
        if end - start > 1:
            groups.append((start, end))
        start = end
    if not groups:
        return
    ranks = rank_of_ties(list({place.pk for start, end in groups for place in places[start:end]}))
    for start, end in groups:
        places[start:end] = sorted(
            places[start:end], key=lambda place: (ranks.get(place.pk, len(ranks)), place.pk, place.ordinal)
        )


def _collapsed(places: Sequence[Place], known: Mapping[int, str | None]) -> list[Place]:
    """Of documents with the same content the best placed one."""
    shown: dict[str, int] = {}
    kept: list[Place] = []
    for place in places:
        content = known[place.pk]
        if content is None or shown.setdefault(content, place.pk) == place.pk:
            kept.append(place)
    return kept
