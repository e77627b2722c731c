"""Ports without engines, models or a clock on the wall. They pass the contracts in tests/contract."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from typing_extensions import override

from armillary_core.domain.document import encode_path
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError
from armillary_core.domain.facets import Facets, facets_of
from armillary_core.domain.query import (
    All,
    AnyOf,
    Eq,
    Filter,
    Hit,
    Hits,
    In,
    LegUnavailable,
    MatchClass,
    NameHit,
    NameHits,
    Not,
    Range,
    SparseVector,
)
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue.outbox import CardIndexState
from armillary_core.ports.chunk_index import ChunkIndex, Point
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import Embedder, EmbedderUnavailable, ModelFacts
from armillary_core.text.function_words import FUNCTION_WORDS
from armillary_core.text.names import NameUnit, fold_name, has_name, name_units
from armillary_core.text.tokens import token_id


class FakeClock(Clock):
    """Time that moves only when the test says so."""

    def __init__(self, now: float = 1_760_000_000.0) -> None:
        self.time = now

    def advance(self, seconds: float) -> None:
        self.time += seconds

    @override
    def now(self) -> float:
        return self.time

    @override
    def monotonic(self) -> float:
        return self.time


class FakeEmbedder(Embedder):
    """Hashed bags of words: texts that share words are near each other. `down` makes it unavailable."""

    def __init__(self, dimensions: int = 64, *, languages: tuple[str, ...] = ()) -> None:
        self.down: str | None = None
        self.calls: list[int] = []  # how many texts each call of `passages` had
        self._facts = ModelFacts(
            name="fake",
            fingerprint=f"fake-{dimensions}",
            dimensions=dimensions,
            max_tokens=512,
            languages=languages,
            cosine_floor=0.1,
            cosine_ceiling=0.9,
        )

    @override
    def facts(self) -> ModelFacts | EmbedderUnavailable:
        return EmbedderUnavailable(self.down) if self.down else self._facts

    @override
    async def query(self, text: str) -> list[float] | EmbedderUnavailable:
        return EmbedderUnavailable(self.down) if self.down else self.vector(text)

    @override
    async def passages(self, texts: Sequence[str]) -> list[list[float]] | EmbedderUnavailable:
        if self.down:
            return EmbedderUnavailable(self.down)
        self.calls.append(len(texts))
        return [self.vector(text) for text in texts]

    @override
    async def close(self) -> None: ...

    def vector(self, text: str) -> list[float]:
        values = [0.0] * self._facts.dimensions
        for unit in name_units(text):
            for part in unit.parts:
                values[token_id(part) % len(values)] += 1.0
        norm = math.sqrt(sum(value * value for value in values))
        return [value / norm for value in values] if norm else [1.0 / math.sqrt(len(values))] * len(values)


def holds(wanted: Filter, facets: Facets) -> bool:
    """Whether a document with these facets passes the filter."""
    match wanted:
        case Eq(field, value):
            return value in _values(facets, field.value)
        case In(field, values):
            return any(value in _values(facets, field.value) for value in values)
        case Range(field, low, high):
            numbers = [value for value in _values(facets, field.value) if isinstance(value, int)]
            return any((low is None or value >= low) and (high is None or value <= high) for value in numbers)
        case All(parts):
            return all(holds(part, facets) for part in parts)
        case AnyOf(parts):
            return any(holds(part, facets) for part in parts)
        case Not(part):
            return not holds(part, facets)
        case _:
            assert_never(wanted)


def _values(facets: Facets, field: str) -> list[str | int]:
    value = facets.get(field, [])
    return [*value] if isinstance(value, list) else [value]


class FakeChunkIndex(ChunkIndex):
    """Points in a dictionary. `down` makes legs unavailable and writes fail."""

    def __init__(self, dimensions: int | None = None) -> None:
        self.down: str | None = None
        self.points: dict[int, Point] = {}
        self._dimensions = dimensions
        self._closed = False

    @override
    async def upsert(self, points: Sequence[Point]) -> None:
        self._check()
        for point in points:
            if point.meaning is not None:
                self._dimensions = self._dimensions or len(point.meaning)
                if len(point.meaning) != self._dimensions:
                    raise BackendRejectedError(f"The chunk index holds vectors of {self._dimensions} numbers.")
        self.points |= {point.key: point for point in points}
        newest: dict[int, int] = {}
        for point in points:
            newest[point.document] = max(point.revision, newest.get(point.document, point.revision))
        self.points = {
            key: point
            for key, point in self.points.items()
            if point.revision >= newest.get(point.document, point.revision)
        }

    @override
    async def delete_documents(self, pks: Iterable[int]) -> None:
        self._check()
        gone = set(pks)
        self.points = {key: point for key, point in self.points.items() if point.document not in gone}

    @override
    async def by_words(
        self, query: SparseVector, *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        weights = dict(zip(query.ids, query.weights, strict=True))
        return self._rank(
            filter,
            limit,
            deadline_seconds,
            lambda point: sum(
                weights.get(token, 0.0) * weight
                for token, weight in zip(point.words.ids, point.words.weights, strict=True)
            ),
        )

    @override
    async def by_meaning(
        self, query: Sequence[float], *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        if self._dimensions is None:
            return LegUnavailable("no passage has a vector yet")
        if len(query) != self._dimensions:
            return LegUnavailable(f"the index holds vectors of {self._dimensions} numbers")
        return self._rank(filter, limit, deadline_seconds, lambda point: _cosine(query, point.meaning))

    @override
    async def vectors(self, keys: Sequence[int]) -> dict[int, list[float]]:
        self._check()
        found = {key: self.points[key].meaning for key in keys if key in self.points}
        return {key: list(meaning) for key, meaning in found.items() if meaning is not None}

    @override
    async def count(self, *, filter: Filter | None = None, with_meaning: bool = False) -> int:
        self._check()
        return sum(
            (filter is None or holds(filter, _facets_of(point))) and not (with_meaning and point.meaning is None)
            for point in self.points.values()
        )

    @override
    async def tidy(self) -> None:
        self._check()

    @override
    async def clear(self) -> None:
        self._check()
        self.points = {}

    @override
    async def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self.down or self._closed:
            raise BackendUnavailableError(self.down or "The chunk index is closed.")

    def _rank(
        self, wanted: Filter | None, limit: int, deadline: float, score: Callable[[Point], float]
    ) -> Hits | LegUnavailable:
        if self.down or self._closed or deadline <= 0:
            return LegUnavailable(self.down or "the chunk index gave no answer in time")
        hits = [
            Hit(point.key, score(point))
            for point in self.points.values()
            if wanted is None or holds(wanted, _facets_of(point))
        ]
        return Hits(
            tuple(sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.key))[:limit])
        )


def _facets_of(point: Point) -> Facets:
    return {**point.payload, "document": point.document}


def _cosine(left: Sequence[float], right: Sequence[float] | None) -> float:
    if right is None:
        return 0.0
    norm = math.sqrt(sum(value * value for value in left) * sum(value * value for value in right))
    return sum(one * other for one, other in zip(left, right, strict=True)) / norm if norm else 0.0


@dataclass(frozen=True, slots=True)
class _Entry:
    """One card or chapter, as the names leg sees it."""

    document: int
    chapter: int | None
    facets: Facets
    wholes: dict[str, float]  # folded whole names and what each is worth
    letters: int  # of the own name
    fields: tuple[frozenset[str], ...]  # words by name field, the own name first
    anywhere: frozenset[str]

    def has(self, unit: NameUnit, words: frozenset[str], *, unfinished: bool = False) -> bool:
        def is_there(word: str, last: bool) -> bool:
            return word in words or (last and unfinished and any(known.startswith(word) for known in words))

        if unit.whole is not None and is_there(unit.whole, True):
            return True
        return all(is_there(part, part is unit.parts[-1]) for part in unit.parts)


class FakeCardIndex(CardIndex):
    """Every name is looked at for every question. `down` makes the leg unavailable and writes fail."""

    fingerprint = "fake"

    def __init__(self) -> None:
        self.down: str | None = None
        self.states: dict[int, CardIndexState] = {}
        self._closed = False

    @override
    async def upsert(self, states: Sequence[CardIndexState]) -> None:
        self._check()
        self.states |= {state.pk: state for state in states}

    @override
    async def delete(self, pks: Iterable[int]) -> None:
        self._check()
        for pk in pks:
            self.states.pop(pk, None)

    @override
    async def search(
        self, text: str, *, filter: Filter | None, limit: int, deadline_seconds: float = 1.0
    ) -> NameHits | LegUnavailable:
        if self.down or self._closed:
            return LegUnavailable(self.down or "The card index is closed.")
        if limit <= 0 or not has_name(text):
            return NameHits(())
        if deadline_seconds <= 0:
            return LegUnavailable("the card index gave no answer in time")
        entries = [
            entry
            for state in self.states.values()
            for entry in _entries(state)
            if filter is None or holds(filter, entry.facets)
        ]
        whole, units = fold_name(text), name_units(text)
        found: dict[tuple[int, int], NameHit] = {}
        order = list(MatchClass)
        for entry in entries:
            match = _class_of(entry, whole, units)
            if match is not None:
                _keep(found, entry, match, _score_of(entry, match, whole, units))
        if not found:
            for entry in entries:
                own = any(_is_misspelt(unit, entry.fields[0]) for unit in units)
                is_named = own or entry.chapter is None
                if units and is_named and all(_is_misspelt(unit, entry.anywhere) for unit in units):
                    _keep(found, entry, MatchClass.FUZZY, 0.9 if own else 0.3)
        telling = [unit for unit in units if unit.letters > 1 and " ".join(unit.parts) not in _SMALL_WORDS]
        for entry in entries:
            there = [unit for unit in telling if entry.has(unit, entry.anywhere)]
            own = entry.chapter is None or any(entry.has(unit, entry.fields[0]) for unit in there)
            if len(telling) > 1 and len(there) >= math.ceil(len(telling) / 2) and own:
                _keep(found, entry, MatchClass.PARTIAL, len(there) / len(telling))
        hits = sorted(found.items(), key=lambda item: (order.index(item[1].match), -item[1].score, item[0]))
        return NameHits(tuple(hit for _, hit in hits[:limit]))

    @override
    async def count(self) -> int:
        self._check()
        return len(self.states)

    @override
    async def clear(self) -> None:
        self._check()
        self.states = {}

    @override
    async def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self.down or self._closed:
            raise BackendUnavailableError(self.down or "The card index is closed.")


_SMALL_WORDS = frozenset(
    word for languages in FUNCTION_WORDS.values() for words in languages.values() for word in words.split()
)


def _keep(found: dict[tuple[int, int], NameHit], entry: _Entry, match: MatchClass, score: float) -> None:
    place = (entry.document, -1 if entry.chapter is None else entry.chapter)
    found.setdefault(place, NameHit(entry.document, entry.chapter, match, score))


def _class_of(entry: _Entry, whole: str, units: list[NameUnit]) -> MatchClass | None:
    if whole in entry.wholes:
        return MatchClass.EXACT
    if not units:
        return None

    def all_in(words: frozenset[str]) -> bool:
        return all(entry.has(unit, words) for unit in units[:-1]) and entry.has(units[-1], words, unfinished=True)

    if any(all_in(words) for words in entry.fields):
        return MatchClass.PREFIX
    own = entry.chapter is None or any(entry.has(unit, entry.fields[0], unfinished=True) for unit in units)
    return MatchClass.WORDS if own and all_in(entry.anywhere) else None


def _score_of(entry: _Entry, match: MatchClass, whole: str, units: list[NameUnit]) -> float:
    if match is MatchClass.EXACT:
        return entry.wholes[whole]
    own = [unit for unit in units if entry.has(unit, entry.fields[0], unfinished=True)]
    share = min(1.0, sum(unit.letters for unit in own) / max(entry.letters, 1))
    return 0.2 + 0.6 * share + (0.1 if entry.chapter is None else 0.0)


def _entries(state: CardIndexState) -> list[_Entry]:
    card, facets = state.card, facets_of(state.card)
    path = card.document.path.decode("utf-8", "replace")
    file = posixpath.basename(path)
    stem = posixpath.splitext(file)[0]
    title = card.document.title or stem
    tails = ["/".join(path.split("/")[-depth:]) for depth in range(2, path.count("/") + 1)]
    encoded = encode_path(card.document.path)
    wholes = {fold_name(keyword): 0.7 for keyword in card.keywords}
    wholes |= {fold_name(name): 0.9 for name in (stem, file, path, *tails, encoded, card.id)}
    fields = tuple(map(_word_set, ([title], [path], card.headings, [*card.keywords, card.type or ""])))
    everything = frozenset().union(*fields, _word_set([card.summary or ""]))
    wholes[fold_name(title)] = 1.0
    found = [_Entry(state.pk, None, facets, wholes, _letters(title), fields, everything)]
    for chapter in state.chapters:
        if fold_name(chapter.name) == fold_name(title):
            continue
        dotted = [".".join(chapter.path[-2:]), ".".join(chapter.path)]
        own = _word_set([chapter.name])
        names = {fold_name(name): 0.8 for name in (chapter.name, *dotted)}
        anywhere = own | _word_set(chapter.path)
        found.append(_Entry(state.pk, chapter.ordinal, facets, names, _letters(chapter.name), (own,), anywhere))
    return found


def _letters(name: str) -> int:
    return sum(unit.letters for unit in name_units(name))


def _word_set(texts: Iterable[str]) -> frozenset[str]:
    units = [unit for text in texts for unit in name_units(text)]
    return frozenset(word for unit in units for word in (*unit.parts, unit.whole) if word)


def _is_misspelt(unit: NameUnit, words: frozenset[str]) -> bool:
    asked = (unit.whole,) if unit.whole is not None else unit.parts
    return all(
        any(_distance(word, known) <= (2 if len(word) >= 8 else 1 if len(word) >= 4 else 0) for known in words)
        for word in asked
    )


def _distance(left: str, right: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours."""
    if abs(len(left) - len(right)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        following = [i]
        for j, other in enumerate(right, start=1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        before, row = row, following
    return row[-1]
