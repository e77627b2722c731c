"""Documents close in meaning to one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from armillary_core.domain.chunk import TermCounts, chunk_key
from armillary_core.domain.document import Document
from armillary_core.domain.errors import BackendUnavailableError, InvalidRequestError
from armillary_core.domain.passage import Completeness, SearchAnswer
from armillary_core.domain.project import Project, ProjectName
from armillary_core.domain.query import (
    All,
    Field,
    Filter,
    Hits,
    In,
    LegUnavailable,
    Mode,
    Not,
    QueryClass,
    SparseVector,
)
from armillary_core.domain.token import Caller
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import Embedder, ModelFacts
from armillary_core.text.bm25 import best_score, idf, query_vector
from armillary_core.text.cards import text_of_card
from armillary_core.text.matches import Finder
from armillary_core.text.tokens import count_tokens
from armillary_core.usecases.coverage import Coverage
from armillary_core.usecases.fusion import Found, fuse, one_each
from armillary_core.usecases.legs import LegOff, guarded, report
from armillary_core.usecases.narrowing import within
from armillary_core.usecases.passages import Passages, Spot
from armillary_core.usecases.resolve import Resolve
from armillary_core.usecases.scores import Scores
from armillary_core.usecases.search_policy import SearchPolicy


@dataclass(frozen=True, slots=True)
class _Asked:
    """The document, where to look, and what it says."""

    document: Document
    own: frozenset[int]  # the document and its copies
    visible: tuple[ProjectName, ...]
    projects: tuple[Project, ...]
    filter: Filter
    keys: tuple[int, ...]  # of its chunks, the card chunk left out
    words: SparseVector
    tokens: dict[int, float]
    completeness: Completeness
    generation: str


class FindSimilar:
    """By meaning where there are vectors, else by a document's strongest words; the answer's mode says which."""

    def __init__(
        self,
        catalogue: Catalogue,
        chunks: ChunkIndex,
        embedder: Embedder,
        clock: Clock,
        policy: SearchPolicy | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._chunks = chunks
        self._embedder = embedder
        self._policy = policy or SearchPolicy()
        self._resolve = Resolve(catalogue)
        self._coverage = Coverage(catalogue, clock, self._policy)
        self._passages = Passages(catalogue, self._policy)

    async def __call__(self, doc: str, caller: Caller, *, project: str | None = None, limit: int = 5) -> SearchAnswer:
        """Other documents, nearest first, one passage each; never the document itself or its copies.

        Raises DocumentNotFoundError and ProjectNotFoundError with what is near, InvalidRequestError for a bad limit,
        BackendUnavailableError.
        """
        if not 1 <= limit <= self._policy.max_limit:
            raise InvalidRequestError(f"limit {limit} is outside 1 to {self._policy.max_limit}.")
        model = self._embedder.facts()
        facts = model if isinstance(model, ModelFacts) else None
        asked = await asyncio.to_thread(self._ask, doc, caller, project, facts)
        meaning: Hits | LegUnavailable | LegOff = (
            await guarded(self._by_meaning(asked), seconds=self._policy.meaning_seconds)
            if facts is not None
            else LegUnavailable("" if isinstance(model, ModelFacts) else model.reason)
        )
        words: Hits | LegUnavailable | LegOff = LegOff()
        if not isinstance(meaning, Hits):
            words = await guarded(self._by_words(asked), seconds=self._policy.words_seconds)
            if isinstance(words, LegUnavailable):
                said = "; ".join(reason for reason in (_reason(meaning), words.reason) if reason)
                raise BackendUnavailableError(f"Nothing could be compared: {said}. Try again in a moment.")
        found = Found(
            words=words.hits if isinstance(words, Hits) else (),
            meaning=meaning.hits if isinstance(meaning, Hits) else (),
        )
        answer = await asyncio.to_thread(self._answer, asked, found, facts, limit)
        return replace(answer, legs=(report("meaning", meaning), report("words", words)))

    # ------------------------------------------------------------------ before the engine

    def _ask(self, doc: str, caller: Caller, project: str | None, model: ModelFacts | None) -> _Asked:
        document = self._resolve.document(doc, caller)
        seen = self._resolve.visible(caller)
        asked = seen if project is None else [self._resolve.project(project, caller)]
        visible = tuple(one.name for one in seen)
        names = tuple(one.name for one in asked)
        own = frozenset((document.pk, *(copy.pk for copy in self._catalogue.documents.copies(document, names))))
        condition = All((within(names), Not(In(Field.DOCUMENT, tuple(sorted(own))))))
        chunks = self._catalogue.documents.chunks([document.pk]).get(document.pk, [])
        step = max(1, math.ceil(len(chunks) / self._policy.similar_chunks))
        corpus = self._catalogue.terms.counts(names)
        tokens = self._strongest(document, [chunk.terms for chunk in chunks], names, corpus.chunks)
        return _Asked(
            document=document,
            own=own,
            visible=visible,
            projects=tuple(asked),
            filter=condition,
            keys=tuple(chunk_key(document.pk, chunk.ordinal) for chunk in chunks[::step]),
            words=query_vector(tokens),
            tokens=tokens,
            completeness=self._coverage.of(asked, documents=corpus.documents, model=model),
            generation=self._coverage.generation(),
        )

    def _strongest(
        self, document: Document, terms: Sequence[TermCounts], names: Sequence[ProjectName], chunks: int
    ) -> dict[int, float]:
        """The rarity of the words it uses most; of its card when it has no text."""
        if not terms:
            card = self._catalogue.cards.get(document.pk)
            terms = [count_tokens(text_of_card(card), document.language).terms] if card is not None else []
        counts: dict[int, int] = {}
        for one in terms:
            for token, count in zip(one.ids, one.counts, strict=True):
                counts[token] = counts.get(token, 0) + count
        frequencies = self._catalogue.terms.frequencies(names, sorted(counts)) if counts else {}
        rarity = {token: idf(chunks, frequency) for token, frequency in frequencies.items()}
        strongest = sorted(rarity, key=lambda token: (-(1 + math.log(counts[token])) * rarity[token], token))
        return {token: rarity[token] for token in strongest[: self._policy.similar_terms]}

    # ------------------------------------------------------------------ the legs

    async def _by_meaning(self, asked: _Asked) -> Hits | LegUnavailable:
        vectors = await self._chunks.vectors(asked.keys) if asked.keys else {}
        if not vectors:
            return LegUnavailable(f"{asked.document.id} has no vectors yet")
        mean = [sum(column) for column in zip(*(vectors[key] for key in sorted(vectors)), strict=True)]
        norm = math.sqrt(sum(value * value for value in mean))
        if norm <= 0:
            return LegUnavailable(f"{asked.document.id} has no vectors yet")
        return await self._chunks.by_meaning(
            [value / norm for value in mean],
            filter=asked.filter,
            limit=self._policy.leg_limit,
            deadline_seconds=self._policy.meaning_seconds,
        )

    async def _by_words(self, asked: _Asked) -> Hits | LegUnavailable:
        if not asked.words.ids:
            return Hits(())
        return await self._chunks.by_words(
            asked.words,
            filter=asked.filter,
            limit=self._policy.leg_limit,
            deadline_seconds=self._policy.words_seconds,
        )

    # ------------------------------------------------------------------ after them

    def _answer(self, asked: _Asked, found: Found, model: ModelFacts | None, limit: int) -> SearchAnswer:
        by_meaning = bool(found.meaning)
        known = self._catalogue.ingest.hashes(found.documents)
        fusion = fuse(
            found,
            {pk: content for pk, content in known.items() if pk not in asked.own},
            meaning_weight=lambda _pk: 1.0,
            rank_of_ties=self._passages.rank_by_path,
            policy=self._policy,
            settled=limit,
        )
        places = one_each(fusion.places)
        scores = Scores(best_score(asked.tokens.values()), model, self._policy)
        spots = [Spot(place.pk, place.ordinal, None, score=scores.of(fusion, place)) for place in places[:limit]]
        notes = () if places else (_why_nothing(asked),)
        return SearchAnswer(
            passages=tuple(self._passages.load(spots, Finder({}), visible=asked.visible)),
            mode=Mode.SEMANTIC if by_meaning else Mode.KEYWORD,
            query_class=QueryClass.QUESTION,
            legs=(),
            completeness=asked.completeness,
            total=len(places),
            relevant=scores.is_relevant(found),
            notes=notes,
            generation=asked.generation,
        )


def _reason(found: Hits | LegUnavailable | LegOff) -> str:
    return "" if isinstance(found, Hits) else found.reason


def _why_nothing(asked: _Asked) -> str:
    if asked.completeness.documents <= 1:
        return "There is no other document."
    if not asked.words.ids:
        return f"{asked.document.id} has no text to compare."
    return "No other document shares its words."
