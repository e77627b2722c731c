"""Every number of a search in one place, so that it can be measured and tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from armillary_core.domain.query import MatchClass, QueryClass


def _meaning_weights() -> Mapping[QueryClass, float]:
    return {
        QueryClass.QUESTION: 0.6,
        QueryClass.NAVIGATIONAL: 0.5,
        QueryClass.ERROR_TEXT: 0.4,
        QueryClass.IDENTIFIER: 0.3,
    }


def _name_shares() -> Mapping[MatchClass, float]:
    return {
        MatchClass.EXACT: 1.0,
        MatchClass.PREFIX: 0.8,
        MatchClass.WORDS: 0.6,
        MatchClass.FUZZY: 0.4,
        MatchClass.PARTIAL: 0.4,
    }


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """Defaults are what measurements chose; scores and weights are between 0 and 1."""

    # the query
    max_query_chars: int = 1000
    max_terms: int = 32  # of a longer query, the rarest words that somebody wrote
    max_languages: int = 8  # the commonest ones of the projects asked
    max_limit: int = 50
    max_mended: int = 3  # words; a text with more mistakes is in another language
    identifier_weight: float = 1.5  # of a whole identifier that is asked for, its parts being 1
    mended_languages: int = 1  # the commonest, whose stems are tried for a word that no form of is near
    mended_weight: float = 0.8  # of a word that was guessed, a typed one being 1

    # the legs
    leg_limit: int = 100  # hits asked of words and meaning
    card_leg_limit: int = 400  # of these, only card chunks are used
    names_limit: int = 50
    words_seconds: float = 2.0
    meaning_seconds: float = 2.0
    names_seconds: float = 1.0

    # fusion
    meaning_weight: Mapping[QueryClass, float] = field(default_factory=_meaning_weights)
    code_weight: float = 0.4  # of meaning in a question that names a function or variable the documents have
    other_script_weight: float = 0.8  # of meaning, when query and document are written in different scripts
    full_weight_from: float = 0.5  # share of chunks that have a vector; below it, meaning weighs less
    names_bonus: float = 0.15  # the most that a name adds
    name_shares: Mapping[MatchClass, float] = field(default_factory=_name_shares)
    title_bonus: float = 0.15  # of a document whose whole title stands in the question
    exact_name: float = 0.9  # from this score on, an exact match is one of a title, file name or path
    exact_chapters: int = 10  # a chapter name that more documents have says nothing
    free_per_document: int = 3  # passages at their own score
    crowding: float = 0.1  # what each further one of the same document loses more than the one before
    max_per_document: int = 5  # while other documents have some
    quoted_share: float = 0.5  # of the question's words; in quotes among more, something is an example
    quoted_places: int = 50  # looked at for what stood in quotes
    line_words: int = 4  # a question of so many words may be a line of a document
    line_places: int = 12  # looked at for the whole line
    line_hits: int = 8  # and the documents of the best hits by words, wherever meaning put them

    # what is shown
    words_floor: float = 0.12  # part of the best reachable BM25 score that is shown as 0: what any text has
    words_ceiling: float = 0.55  # and as 1
    relevant_from: float = 0.15  # a shown score below it is not an answer
    stretch_chars: int = 800
    snippet_chars: int = 200

    # similar documents
    similar_terms: int = 25
    similar_chunks: int = 200

    # completeness
    much_waiting: int = 200  # documents; beyond, a count may be a second old
    count_seconds: float = 1.0
