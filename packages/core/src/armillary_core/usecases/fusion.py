"""From the hits of three legs to one order: by scores, not ranks; pure and the same every time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from armillary_core.domain.chunk import CARD_ORDINAL, split_key
from armillary_core.domain.document import Document
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


@dataclass(frozen=True, slots=True)
class Ranked:
    """One place to show: a chunk or a named chapter of a document, or its lead when neither is given."""

    pk: int
    ordinal: int | None  # of the chunk
    chapter: int | None  # ordinal of a chapter whose name matched exactly
    tier: Tier
    score: float  # what it was ordered by
    words: float | None = None  # BM25 of the chunk (the document's best, for its first place)
    meaning: float | None = None  # cosine, likewise
    name: NameHit | None = None
    weight: float = 0.0  # of meaning, for this document
    copies: tuple[int, ...] = ()  # other documents of the same content that were found as well


@dataclass(slots=True)
class _Candidate:
    """What all legs say of one document."""

    words: dict[int, tuple[float, float]] = field(default_factory=dict)  # chunk ordinal → (normalised, raw)
    meaning: dict[int, tuple[float, float]] = field(default_factory=dict)
    name: NameHit | None = None


def fuse(
    found: Found,
    documents: Mapping[int, Document],
    *,
    meaning_weight: Callable[[Document], float],
    policy: SearchPolicy,
) -> list[Ranked]:
    """Places in order: exact names first, then by score; documents that are not in `documents` are left out."""
    candidates = _gather(found, documents)
    generic = _generic_chapters(found.names, policy)
    places: list[Ranked] = []
    for pk, candidate in candidates.items():
        weight = meaning_weight(documents[pk]) if found.meaning else 0.0
        places += _places(pk, candidate, weight, is_generic=generic, policy=policy)
    return _collapsed(sorted(places, key=lambda place: _order(place, documents[place.pk])), documents)


def normalised(hits: Sequence[Hit]) -> list[float]:
    """Min-max over one leg; a single score, or several equal ones, count as 1."""
    if not hits:
        return []
    low = min(hit.score for hit in hits)
    span = max(hit.score for hit in hits) - low
    if span <= 0:
        return [1.0] * len(hits)
    return [(hit.score - low) / span for hit in hits]


def spread(places: Iterable[Ranked], *, per_document: int) -> list[Ranked]:
    """At most so many places of one document in a row of pages; what is more comes after all others."""
    first: list[Ranked] = []
    rest: list[Ranked] = []
    seen: dict[int, int] = {}
    for place in places:
        seen[place.pk] = seen.get(place.pk, 0) + 1
        (first if seen[place.pk] <= per_document else rest).append(place)
    return first + rest


def _gather(found: Found, documents: Mapping[int, Document]) -> dict[int, _Candidate]:
    candidates: dict[int, _Candidate] = {}
    for hits, is_meaning in ((found.words, False), (found.meaning, True)):
        for hit, score in zip(hits, normalised(hits), strict=True):
            pk, ordinal = split_key(hit.key)
            if pk in documents:
                candidate = candidates.setdefault(pk, _Candidate())
                (candidate.meaning if is_meaning else candidate.words)[ordinal] = (score, hit.score)
    for name in found.names:
        if name.document in documents:
            candidate = candidates.setdefault(name.document, _Candidate())
            if candidate.name is None or _strength(name) > _strength(candidate.name):
                candidate.name = name
    return candidates


_CLASSES = list(MatchClass)


def _strength(name: NameHit) -> tuple[int, float, int]:
    return -_CLASSES.index(name.match), name.score, -1 if name.chapter is None else -2 - name.chapter


def _generic_chapters(names: Sequence[NameHit], policy: SearchPolicy) -> bool:
    """Whether the question is a heading that many documents have, such as `Usage`."""
    having = {name.document for name in names if name.match is MatchClass.EXACT and name.chapter is not None}
    return len(having) > policy.exact_chapters


def _tier(name: NameHit | None, *, is_generic: bool, policy: SearchPolicy) -> Tier:
    if name is None or name.match is not MatchClass.EXACT:
        return Tier.SCORED
    if name.chapter is None:
        return Tier.EXACT_TITLE if name.score >= policy.exact_name else Tier.SCORED
    return Tier.SCORED if is_generic else Tier.EXACT_CHAPTER


def _bonus(name: NameHit | None, policy: SearchPolicy) -> float:
    if name is None:
        return 0.0
    return policy.names_bonus * policy.name_shares[name.match] * (0.5 + min(max(name.score, 0.0), 1.0) / 2)


def _places(pk: int, candidate: _Candidate, weight: float, *, is_generic: bool, policy: SearchPolicy) -> list[Ranked]:
    """The document's best place with the score of the whole document, then its further chunks with their own."""

    def mixed(words: float, meaning: float) -> float:
        return (1 - weight) * words + weight * meaning

    words, meaning = _best(candidate.words), _best(candidate.meaning)
    tier = _tier(candidate.name, is_generic=is_generic, policy=policy)
    chunks = sorted(
        (-mixed(candidate.words.get(one, _NONE)[0], candidate.meaning.get(one, _NONE)[0]), one)
        for one in candidate.words.keys() | candidate.meaning.keys()
        if one != CARD_ORDINAL
    )
    is_chapter = tier is not Tier.SCORED and candidate.name is not None and candidate.name.chapter is not None
    first = Ranked(
        pk,
        ordinal=chunks[0][1] if chunks else None,
        chapter=candidate.name.chapter if is_chapter and candidate.name is not None else None,
        tier=tier,
        score=mixed(words[0], meaning[0]) + _bonus(candidate.name, policy),
        words=words[1] if candidate.words else None,
        meaning=meaning[1] if candidate.meaning else None,
        name=candidate.name,
        weight=weight,
    )
    places = [first]
    for score, ordinal in chunks[1:]:
        places.append(
            Ranked(
                pk,
                ordinal=ordinal,
                chapter=None,
                tier=Tier.SCORED,
                score=-score,
                words=candidate.words[ordinal][1] if ordinal in candidate.words else None,
                meaning=candidate.meaning[ordinal][1] if ordinal in candidate.meaning else None,
                weight=weight,
            )
        )
    return places


_NONE = (0.0, 0.0)


def _best(scores: Mapping[int, tuple[float, float]]) -> tuple[float, float]:
    return max(scores.values(), default=_NONE)


def _order(place: Ranked, document: Document) -> tuple[int, float, str, bytes, int]:
    ordinal = -1 if place.ordinal is None else place.ordinal
    return place.tier, -round(place.score, _DIGITS), document.project, document.path, ordinal


def _collapsed(places: Sequence[Ranked], documents: Mapping[int, Document]) -> list[Ranked]:
    """Of documents with the same content the best placed one; it names the others."""
    shown_for: dict[str, int] = {}
    copies: dict[int, dict[int, None]] = {}
    kept: list[Ranked] = []
    for place in places:
        content = documents[place.pk].content_hash
        shown = shown_for.setdefault(content, place.pk) if content is not None else place.pk
        if shown == place.pk:
            kept.append(place)
        else:
            copies.setdefault(shown, {})[place.pk] = None
    if not copies:
        return kept
    return [replace(place, copies=tuple(copies[place.pk])) if place.pk in copies else place for place in kept]
