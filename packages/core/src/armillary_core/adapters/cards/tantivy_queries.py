"""A typed name as tantivy queries, from the best class of match to the loosest.

Every score is a constant of the match, a multiple of 1/256, so that sums are exact: it depends on the entry and the
question alone, never on what else is indexed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tantivy import Occur, Query, Schema, Searcher

from armillary_core.adapters.cards.tantivy_documents import (
    ANY,
    FILE,
    HEADING,
    KEYWORD,
    KIND,
    LENGTH,
    NAME,
    WHOLE,
    fewest_letters,
    length_step,
)
from armillary_core.domain.query import MatchClass
from armillary_core.text.function_words import FUNCTION_WORDS
from armillary_core.text.names import NameUnit, fold_name, name_units

Clause = tuple[Occur, Query]

MOST_UNITS: Final = 24  # of a longer question only these are looked at
_MOST_FUZZY: Final = 6  # a name of more words is not found by mistakes in each
_MOST_DOUBTED: Final = 2  # words that are all known, yet may be mistaken for one another
_ONE_MISTAKE: Final = 4  # letters from which one mistake is forgiven
_TWO_MISTAKES: Final = 8

# What a match of the whole name is worth, by the letter in front of it.
_WHOLE: Final = {"n": 0.875, "p": 0.96875, "f": 0.953125, "t": 0.9375, "s": 0.921875, "d": 0.90625, "k": 0.75}
_TITLE: Final = 0.125  # a title is worth this much more than a chapter's name
# What a match of all words in one field is worth before its share of the name is added.
_FIELD: Final = {NAME: 0.5, FILE: 0.375, HEADING: 0.25, KEYWORD: 0.1875}
_SHARE: Final = 0.375  # the most that the share adds
_LENGTH: Final = {NAME: "n", FILE: "f"}
_SHARE_STEPS: Final = 24
# What one word is worth by the field it stands in, when the words are scattered.
_WORD: Final = {NAME: 0.875, FILE: 0.75, HEADING: 0.5, KEYWORD: 0.4375, ANY: 0.25}

_SMALL_WORDS: Final = frozenset(
    word for languages in FUNCTION_WORDS.values() for words in languages.values() for word in words.split()
)

# One query looks for the three best classes; a step of two keeps their scores apart.
STEPS: Final = {MatchClass.EXACT: 6.0, MatchClass.PREFIX: 4.0, MatchClass.WORDS: 2.0}


class NameQueries:
    """The queries for one typed name."""

    def __init__(self, text: str, schema: Schema, searcher: Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._whole = fold_name(text)
        self._units = name_units(text)[:MOST_UNITS]

    @property
    def is_path(self) -> bool:
        return "/" in self._whole

    def exact(self) -> Query:
        return self._exact(0.0)

    def best(self) -> Query:
        """Exact, prefix and words at once; `STEPS` tells the class by the score."""
        found = [self._exact(STEPS[MatchClass.EXACT])]
        if self._units and self._all_known():
            found += [self._prefix(field) for field in _FIELD]
            found.append(self._words())
        return Query.disjunction_max_query(found)

    def fuzzy(self) -> Query | None:
        """All words, each within a mistake or two. Words that are known as they stand keep their spelling, unless
        all of them are known."""
        if not self._units or len(self._units) > _MOST_FUZZY:
            return None
        known = [self._is_known(unit, last=False) for unit in self._units]
        if all(known):
            if len(known) > _MOST_DOUBTED:
                return None
            known = [False] * len(known)
        own: list[Clause] = [(Occur.Should, self._term(KIND, "card"))]
        clauses: list[Clause] = []
        for unit, is_known in zip(self._units, known, strict=True):
            anywhere = self._unit(ANY, unit) if is_known else self._misspelt(ANY, unit)
            in_name = self._unit(NAME, unit) if is_known else self._misspelt(NAME, unit)
            clauses.append((Occur.Must, _constant(anywhere, _exactly(_WORD[ANY] / len(known)))))
            clauses.append((Occur.Should, _constant(in_name, _exactly((_WORD[NAME] - _WORD[ANY]) / len(known)))))
            own.append((Occur.Should, in_name))
        clauses.append((Occur.Must, _constant(Query.boolean_query(own), 0.0)))
        return Query.boolean_query(clauses)

    def partial(self) -> Query | None:
        """At least half of the words that mean something."""
        telling = [unit for unit in self._units if unit.letters > 1 and " ".join(unit.parts) not in _SMALL_WORDS]
        known = [unit for unit in telling if self._is_known(unit, last=False)]
        needed = math.ceil(len(telling) / 2)
        if len(telling) < 2 or len(known) < needed:
            return None
        clauses = [(Occur.Should, self._weigh_word(unit, len(telling))) for unit in known]
        enough = Query.boolean_query(clauses, minimum_number_should_match=needed)
        return Query.boolean_query([(Occur.Must, enough), self._own_name(known)])

    # ------------------------------------------------------------------ classes

    def _exact(self, step: float) -> Query:
        choices = [_constant(self._term(WHOLE, letter + self._whole), step + worth) for letter, worth in _WHOLE.items()]
        title = Query.boolean_query(
            [(Occur.Must, choices[0]), (Occur.Should, _constant(self._term(KIND, "card"), _TITLE))]
        )
        return Query.disjunction_max_query([title, *choices[1:]])

    def _prefix(self, field: str) -> Query:
        """All words in one field, the last one perhaps unfinished; worth more, the more of the name they cover."""
        *first, last = self._units
        clauses: list[Clause] = [(Occur.Must, _constant(self._unit(field, unit), 0.0)) for unit in first]
        clauses.append((Occur.Must, _constant(self._unit(field, last, unfinished=True), 0.0)))
        # a clause that always holds carries what the class and the field are worth
        clauses.append((Occur.Must, _constant(Query.all_query(), STEPS[MatchClass.PREFIX] + _FIELD[field])))
        if field == NAME:
            clauses.append((Occur.Should, _constant(self._term(KIND, "card"), _TITLE)))
        if field in _LENGTH:
            clauses += self._shares(_LENGTH[field])
        return Query.boolean_query(clauses)

    def _words(self) -> Query:
        *first, last = self._units
        clauses: list[Clause] = [(Occur.Must, _constant(self._unit(ANY, unit), 0.0)) for unit in first]
        clauses.append((Occur.Must, _constant(self._unit(ANY, last, unfinished=True), 0.0)))
        clauses.append((Occur.Must, _constant(Query.all_query(), STEPS[MatchClass.WORDS])))
        clauses.append(self._own_name(self._units))
        clauses += [(Occur.Should, self._weigh_word(unit, len(self._units))) for unit in self._units]
        return Query.boolean_query(clauses)

    # ------------------------------------------------------------------ parts

    def _own_name(self, units: Sequence[NameUnit]) -> Clause:
        """A chapter is found for a word of its own, not for the headings above it alone."""
        own = [(Occur.Should, self._unit(NAME, unit)) for unit in units]
        own.append((Occur.Should, self._unit(NAME, units[-1], unfinished=True)))
        own.append((Occur.Should, self._term(KIND, "card")))
        return Occur.Must, _constant(Query.boolean_query(own), 0.0)

    def _shares(self, letter: str) -> list[Clause]:
        typed = sum(unit.letters for unit in self._units)
        first = length_step(typed)
        clauses: list[Clause] = []
        for step in range(max(first - 1, 0), first + _SHARE_STEPS):
            share = min(1.0, typed / fewest_letters(step)) if step else 1.0
            worth = _exactly(_SHARE * share)
            clauses.append((Occur.Should, _constant(self._term(LENGTH, f"{letter}{step}"), worth)))
        return clauses

    def _weigh_word(self, unit: NameUnit, of: int) -> Query:
        """A word's part of the score: the best field it stands in."""
        return Query.disjunction_max_query(
            [_constant(self._unit(field, unit), _exactly(worth / of)) for field, worth in _WORD.items()]
        )

    def _unit(self, field: str, unit: NameUnit, *, unfinished: bool = False) -> Query:
        """A word in a field: all its parts, or all of them in one."""
        *first, last = unit.parts
        clauses: list[Clause] = [(Occur.Must, self._term(field, part)) for part in first]
        clauses.append((Occur.Must, self._prefix_term(field, last) if unfinished else self._term(field, last)))
        parts = clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)
        if unit.whole is None:
            return parts
        whole = self._prefix_term(field, unit.whole) if unfinished else self._term(field, unit.whole)
        return Query.boolean_query([(Occur.Should, parts), (Occur.Should, whole)])

    def _misspelt(self, field: str, unit: NameUnit) -> Query:
        words = (unit.whole,) if unit.whole is not None else unit.parts
        clauses: list[Clause] = []
        for word in words:
            mistakes = 2 if len(word) >= _TWO_MISTAKES else 1 if len(word) >= _ONE_MISTAKE else 0
            query = (
                Query.fuzzy_term_query(self._schema, field, word, distance=mistakes, transposition_cost_one=True)
                if mistakes
                else self._term(field, word)
            )
            clauses.append((Occur.Must, query))
        return Query.boolean_query(clauses)

    def _all_known(self) -> bool:
        """Whether every word is in some name at all: most questions end here."""
        *first, last = self._units
        return all(self._is_known(unit, last=False) for unit in first) and self._is_known(last, last=True)

    def _is_known(self, unit: NameUnit, *, last: bool) -> bool:
        if unit.whole is not None and self._is_word(unit.whole, unfinished=last):
            return True
        *first, final = unit.parts
        return all(self._is_word(part) for part in first) and self._is_word(final, unfinished=last)

    def _is_word(self, word: str, *, unfinished: bool = False) -> bool:
        if self._searcher.doc_freq(ANY, word) > 0:
            return True
        return unfinished and bool(self._searcher.terms_with_prefix(ANY, word, limit=1))

    def _term(self, field: str, word: str) -> Query:
        return Query.term_query(self._schema, field, word, "basic")

    def _prefix_term(self, field: str, word: str) -> Query:
        return Query.fuzzy_term_query(self._schema, field, word, distance=0, prefix=True)


def class_of(score: float) -> tuple[MatchClass, float]:
    """The class a score of `best` stands for, and the score within it."""
    for match, step in STEPS.items():
        if score >= step:
            return match, min(score - step, 1.0)
    raise AssertionError(score)


def _constant(query: Query, score: float) -> Query:
    return Query.const_score_query(query, score)


def _exactly(score: float) -> float:
    """Rounded to what a sum of floats keeps exactly."""
    return max(round(score * 256), 1) / 256
