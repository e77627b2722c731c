"""The words of a question as the words leg asks for them: weighed by rarity, mistakes mended, the unknown named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import QueryClass, SparseVector
from armillary_core.ports.catalogue.terms import CorpusCounts, TermStore
from armillary_core.text.bm25 import best_score, idf, query_vector
from armillary_core.text.folding import fold
from armillary_core.text.query import Question, is_small_word
from armillary_core.text.spelling import allowed_mistakes, nearest, one_mistake_away
from armillary_core.text.tokens import QueryTerm, count_tokens, query_terms, token_id
from armillary_core.usecases.search_policy import SearchPolicy


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the question: token ids with the weight each adds to the vector, and the most it can add."""

    term: QueryTerm
    weights: Mapping[int, float]
    rarity: float
    is_known: bool


@dataclass(frozen=True, slots=True)
class Wording:
    """What the words leg asks, and what of the question it could not ask."""

    text: str  # the question with mended words in place
    vector: SparseVector
    best: float  # BM25 score of a chunk that is all about the question, unknown words counted
    tokens: Mapping[str, float]  # weight by token, to find the words in a text
    names_code: bool = False  # `getUserById` or `snake_case`, as it is written in some document
    mended: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Dictionary:
    """Words and their rarity over some projects."""

    def __init__(
        self, terms: TermStore, projects: Sequence[ProjectName], languages: Sequence[str], policy: SearchPolicy
    ) -> None:
        self._terms = terms
        self._projects = projects
        self._languages = languages
        self._policy = policy
        self.corpus: CorpusCounts = terms.counts(projects)

    def read(self, question: Question) -> list[QueryTerm]:
        """The words of a question, analysed in every language of the projects."""
        return query_terms(question.text, self._languages)

    def word(self, question: Question, terms: Sequence[QueryTerm], kind: QueryClass) -> Wording:
        """Weights from the projects' own frequencies; a word that occurs nowhere is mended when one is near."""
        quoted = _quoted(question)
        asked = _without_stop_words(terms, quoted, kind)
        frequencies = self._frequencies(asked)
        is_sentence = kind in (QueryClass.QUESTION, QueryClass.ERROR_TEXT)
        words = [self._weigh(term, frequencies, is_sentence=is_sentence) for term in asked]
        words = [word for word in words if word.is_known or not is_small_word(word.term.surface)] or words
        words, mended, unknown = self._mend(words, quoted, is_short=kind is not QueryClass.ERROR_TEXT)
        words = self._reduce(words)
        weights: dict[int, float] = {}
        tokens: dict[str, float] = {}
        for word in words:
            for token in word.term.tokens:
                number = token_id(token)
                if number in word.weights:
                    weights[number] = weights.get(number, 0.0) + word.weights[number]
                    tokens[token] = word.weights[number]
        return Wording(
            text=_replaced(question.text, terms, mended),
            vector=query_vector(weights),
            best=best_score(word.rarity for word in words),
            tokens=tokens,
            names_code=any(map(_is_code, words)),
            mended=mended,
            unknown=unknown,
        )

    def _frequencies(self, terms: Sequence[QueryTerm]) -> dict[int, int]:
        ids = {token_id(token) for term in terms for token in term.tokens}
        return self._terms.frequencies(self._projects, sorted(ids)) if ids and self.corpus.chunks else {}

    def _weigh(
        self, term: QueryTerm, frequencies: Mapping[int, int], *, is_sentence: bool, factor: float = 1.0
    ) -> Word:
        """Stems of one word in several languages are one word: they share one rarity. So do the parts of a path, an
        address or a flag in a sentence, where it is mostly an example; asked for alone, each part counts."""
        ids = list(dict.fromkeys(token_id(token) for token in term.tokens))
        known = [number for number in ids if frequencies.get(number)]
        chunks = self.corpus.chunks
        if not known:
            return Word(term, {}, idf(chunks, 0) * factor if chunks else 0.0, is_known=False)
        if not term.identifier and term.surface.isalpha() and not _is_run(term):
            rarity = idf(chunks, sum(frequencies[number] for number in known)) * factor
            return Word(term, dict.fromkeys(known, rarity), rarity, is_known=True)
        if term.identifier and is_sentence and not term.surface.replace("_", "").isalnum():
            factor /= len(known)
        weights = {number: idf(chunks, frequencies[number]) * factor for number in known}
        if term.identifier and not is_sentence:
            whole = _whole(term, weights)
            if whole is not None:
                weights[whole] *= self._policy.identifier_weight
        return Word(term, weights, sum(weights.values()), is_known=True)

    def _mend(
        self, words: Sequence[Word], quoted: Sequence[tuple[int, int]], *, is_short: bool
    ) -> tuple[list[Word], dict[str, str], dict[str, tuple[str, ...]]]:
        mended: dict[str, str] = {}
        unknown: dict[str, tuple[str, ...]] = {}
        result: list[Word] = []
        for word in words:
            result.append(word)
            term = word.term
            if word.is_known or not self.corpus.chunks or term.surface in unknown or term.stop:
                continue
            folded = fold(term.surface)
            is_open = not term.identifier and not any(start <= term.start < end for start, end in quoted)
            if not is_open or not allowed_mistakes(folded) or len(mended) >= self._policy.max_mended:
                if is_short:
                    unknown[term.surface] = ()
                continue
            found = nearest(folded, self._terms.near(self._projects, folded))
            meant = found.mended or self._by_stem(folded)
            if meant is None:
                unknown[term.surface] = found.near
                continue
            replacement = query_terms(meant, self._languages)
            frequencies = self._frequencies(replacement)
            mended[term.surface] = meant
            factor = self._policy.mended_weight
            result[-1:] = [self._weigh(one, frequencies, is_sentence=True, factor=factor) for one in replacement]
        return result, mended, unknown

    def _by_stem(self, folded: str) -> str | None:
        """The commonest word one mistake away of which another form was written: `modfiying` where there is
        `modified`."""
        spellings = " ".join(one_mistake_away(folded))
        words: dict[int, str] = {}
        for language in (None, *self._languages[: self._policy.mended_languages]):
            words |= count_tokens(spellings, language).words
        frequencies = self._terms.frequencies(self._projects, sorted(words)) if words else {}
        found = max(frequencies, key=lambda token: (frequencies[token], words[token]), default=None)
        return words[found] if found is not None else None

    def _reduce(self, words: list[Word]) -> list[Word]:
        """Of a very long question, the rarest words that somebody wrote."""
        if len(words) <= self._policy.max_terms:
            return words
        known = [word for word in words if word.is_known] or words
        kept = sorted(range(len(known)), key=lambda place: (-known[place].rarity, place))[: self._policy.max_terms]
        return [known[place] for place in sorted(kept)]


def _quoted(question: Question) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    for phrase in question.phrases:
        at = question.text.find(phrase)
        if at >= 0:
            places.append((at, at + len(phrase)))
    return places


def _without_stop_words(
    terms: Sequence[QueryTerm], quoted: Sequence[tuple[int, int]], kind: QueryClass
) -> list[QueryTerm]:
    """All of them where nothing else was asked, or where each sign may matter."""
    if kind is QueryClass.IDENTIFIER:
        return list(terms)
    kept = [term for term in terms if not term.stop or any(start <= term.start < end for start, end in quoted)]
    return kept or list(terms)


def _is_code(word: Word) -> bool:
    """Whether this names something in code that is there; not a path, flag or version, which may be an example."""
    surface = word.term.surface
    if not word.term.identifier or surface[0].isdigit() or not surface.replace("_", "").isalnum():
        return False
    return _whole(word.term, word.weights) is not None


def _whole(term: QueryTerm, weights: Mapping[int, float]) -> int | None:
    """Of the tokens that documents have, the one that stands for all of an identifier: some stem of it."""
    known = [token for token in term.tokens if token_id(token) in weights and len(token) * 3 >= len(term.surface) * 2]
    return token_id(max(known, key=len)) if known else None


def _is_run(term: QueryTerm) -> bool:
    """Whether this is writing without spaces, asked for by pairs of characters: each of them counts."""
    return len(term.tokens) > 1 and all(len(token) == 2 for token in term.tokens) and len(term.surface) > 2


def _replaced(text: str, terms: Sequence[QueryTerm], mended: Mapping[str, str]) -> str:
    if not mended:
        return text
    pieces: list[str] = []
    at = 0
    for term in terms:
        if term.surface in mended and term.start >= at:
            pieces += [text[at : term.start], mended[term.surface]]
            at = term.end
    return "".join([*pieces, text[at:]])
