"""Search: one use case for the gateway, the web and the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from armillary_core.domain.chunk import CARD_ORDINAL, split_key
from armillary_core.domain.errors import BackendUnavailableError, InvalidQueryError, InvalidRequestError
from armillary_core.domain.passage import Completeness, Passage, SearchAnswer
from armillary_core.domain.project import Project, ProjectName
from armillary_core.domain.query import (
    Filter,
    Hit,
    Hits,
    LegReport,
    LegUnavailable,
    Mode,
    NameHits,
    QueryClass,
    Scope,
    SearchQuery,
)
from armillary_core.domain.token import Caller
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.documents import Label
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import Embedder, EmbedderUnavailable, ModelFacts
from armillary_core.text.folding import Script
from armillary_core.text.matches import Finder
from armillary_core.text.query import Question, classify, read_question
from armillary_core.text.scripts import is_other_script, script_of_language
from armillary_core.usecases.coverage import Coverage
from armillary_core.usecases.fusion import Found, Place, chapter_of, fuse, one_each, spread
from armillary_core.usecases.legs import FoundByMeaning, FoundByName, FoundByWords, guarded, off, report, run_legs
from armillary_core.usecases.narrowing import filter_of
from armillary_core.usecases.notes import notes_of, unheld
from armillary_core.usecases.passages import Passages, Spot, Texts
from armillary_core.usecases.resolve import Resolve, shown
from armillary_core.usecases.scores import Scores
from armillary_core.usecases.search_policy import SearchPolicy
from armillary_core.usecases.titles import titled
from armillary_core.usecases.verbatim import lift_verbatim, phrase_of
from armillary_core.usecases.wording import Dictionary, Wording


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Everything known before an engine is asked."""

    query: SearchQuery
    question: Question
    kind: QueryClass
    visible: tuple[ProjectName, ...]  # to this caller, whatever project was asked
    projects: tuple[Project, ...]  # asked
    filter: Filter
    wording: Wording
    mode: Mode
    model: ModelFacts | EmbedderUnavailable
    mixed_scripts: bool  # some documents are written in another script than the question
    completeness: Completeness
    generation: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """One page of what was found."""

    passages: Sequence[Passage] = ()
    total: int = 0
    is_relevant: bool = False
    notes: tuple[str, ...] = ()


class Search:
    """Finds passages; says which legs ran, how complete the index is and what was searched instead."""

    def __init__(
        self,
        catalogue: Catalogue,
        cards: CardIndex,
        chunks: ChunkIndex,
        embedder: Embedder,
        clock: Clock,
        policy: SearchPolicy | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._cards = cards
        self._chunks = chunks
        self._embedder = embedder
        self._policy = policy or SearchPolicy()
        self._resolve = Resolve(catalogue)
        self._coverage = Coverage(catalogue, clock, self._policy)
        self._passages = Passages(catalogue, self._policy)

    async def __call__(self, query: SearchQuery, caller: Caller) -> SearchAnswer:
        """Passages of the projects this caller may see, best first.

        Raises InvalidQueryError, InvalidRequestError, UnknownFacetError, ProjectNotFoundError, and
        BackendUnavailableError when no leg that was asked could answer.
        """
        question = self._read(query)
        prepared = await asyncio.to_thread(self._prepare, query, question, caller)
        if query.scope is Scope.REFERENCE or not prepared.projects:
            return self._answer(prepared, _Shown(), ())
        words, meaning, names = await run_legs(self._words(prepared), self._meaning(prepared), self._names(prepared))
        legs = tuple(report(*leg) for leg in (("words", words), ("meaning", meaning), ("names", names)))
        if not any(leg.state == "ok" for leg in legs):
            said = "; ".join(f"{leg.name} {leg.state} ({leg.reason})" for leg in legs if leg.reason)
            way = ' mode="keyword" needs no model.' if prepared.mode is Mode.SEMANTIC else " Try again in a moment."
            raise BackendUnavailableError(f"No leg of the search could answer: {said}.{way}")
        found = Found(_hits(words), _hits(meaning), names.hits if isinstance(names, NameHits) else ())
        if query.scope is Scope.CARDS:
            found = Found(_card_hits(found.words, self._policy), _card_hits(found.meaning, self._policy), found.names)
        page = await asyncio.to_thread(self._load, prepared, found, isinstance(words, Hits))
        return self._answer(prepared, page, legs)

    def _answer(self, prepared: _Prepared, found: _Shown, legs: tuple[LegReport, ...]) -> SearchAnswer:
        query, mode = prepared.query, prepared.mode
        if query.mode is Mode.AUTO and not any(leg.name == "meaning" and leg.state == "ok" for leg in legs):
            mode = Mode.KEYWORD  # what ran, whatever was hoped for
        notes = notes_of(
            query, prepared.question, prepared.projects, prepared.completeness, legs, is_empty=not found.passages
        )
        return SearchAnswer(
            passages=tuple(found.passages),
            mode=mode,
            query_class=prepared.kind,
            legs=legs,
            completeness=prepared.completeness,
            total=found.total,
            relevant=found.is_relevant,
            mended=prepared.wording.mended,
            unknown=prepared.wording.unknown,
            notes=(*found.notes, *notes),
            generation=prepared.generation,
        )

    # ------------------------------------------------------------------ before the engines

    def _read(self, query: SearchQuery) -> Question:
        if not 1 <= query.limit <= self._policy.max_limit:
            raise InvalidRequestError(f"limit {query.limit} is outside 1 to {self._policy.max_limit}.")
        if query.offset < 0:
            raise InvalidRequestError(f"offset {query.offset} is below 0.")
        question = read_question(query.text, max_chars=self._policy.max_query_chars)
        if not question.text:
            raise InvalidQueryError("query is empty. Give words, a question, a name or an error text.")
        if question.is_blank:
            raise InvalidQueryError(
                f'query "{shown(question.text, 40)}" holds no word. Give words, a question, a name or an error text.'
            )
        return question

    def _prepare(self, query: SearchQuery, question: Question, caller: Caller) -> _Prepared:
        seen = self._resolve.visible(caller)
        asked = seen
        if query.project is not None:
            asked = [project for project in seen if project.name == query.project]
            if not asked:
                asked = [self._resolve.project(query.project, caller)]  # raises, naming what there is
        names = tuple(project.name for project in asked)
        condition = filter_of(query, names, self._catalogue)
        languages = self._catalogue.projects.languages(names)
        dictionary = Dictionary(
            self._catalogue.terms, names, list(languages)[: self._policy.max_languages], self._policy
        )
        terms = dictionary.read(question)
        kind = classify(question, terms)
        model = self._embedder.facts()
        return _Prepared(
            query=query,
            question=question,
            kind=kind,
            visible=tuple(project.name for project in seen),
            projects=tuple(asked),
            filter=condition,
            wording=dictionary.word(question, terms, kind),
            mode=_mode(query.mode, question, model),
            model=model,
            mixed_scripts=any(is_other_script(script_of_language(one), question.script) for one in languages),
            completeness=self._coverage.of(asked, documents=dictionary.corpus.documents, model=_facts(model)),
            generation=self._coverage.generation(),
        )

    # ------------------------------------------------------------------ the legs

    async def _words(self, prepared: _Prepared) -> FoundByWords:
        if prepared.query.scope is Scope.TITLES or prepared.mode is Mode.SEMANTIC:
            return await off()
        limit = self._policy.card_leg_limit if prepared.query.scope is Scope.CARDS else self._policy.leg_limit
        if not prepared.wording.vector.ids:
            return Hits(())
        seconds = self._policy.words_seconds
        return await guarded(
            self._chunks.by_words(
                prepared.wording.vector, filter=prepared.filter, limit=limit, deadline_seconds=seconds
            ),
            seconds=seconds,
        )

    async def _meaning(self, prepared: _Prepared) -> FoundByMeaning:
        asked = prepared.query.mode is not Mode.KEYWORD and prepared.query.scope is not Scope.TITLES
        if not asked:
            return await off()
        if isinstance(prepared.model, EmbedderUnavailable):
            return LegUnavailable(prepared.model.reason)
        if _is_foreign(prepared.question, prepared.model):
            return await off(f"{prepared.model.name} knows English only, the question is in {prepared.question.script}")
        return await guarded(self._ask_meaning(prepared), seconds=self._policy.meaning_seconds)

    async def _ask_meaning(self, prepared: _Prepared) -> Hits | LegUnavailable:
        vector = await self._embedder.query(prepared.wording.text)
        if isinstance(vector, EmbedderUnavailable):
            return LegUnavailable(vector.reason)
        limit = self._policy.card_leg_limit if prepared.query.scope is Scope.CARDS else self._policy.leg_limit
        return await self._chunks.by_meaning(
            vector, filter=prepared.filter, limit=limit, deadline_seconds=self._policy.meaning_seconds
        )

    async def _names(self, prepared: _Prepared) -> FoundByName:
        if prepared.mode is Mode.SEMANTIC and prepared.query.scope is not Scope.TITLES:
            return await off()
        seconds = self._policy.names_seconds
        return await guarded(
            self._cards.search(
                prepared.wording.text,
                filter=prepared.filter,
                limit=self._policy.names_limit,
                deadline_seconds=seconds,
            ),
            seconds=seconds,
        )

    # ------------------------------------------------------------------ after them

    def _load(self, prepared: _Prepared, found: Found, words_ran: bool) -> _Shown:
        """Fused, collapsed and read from the catalogue, which has the last word on what is there."""
        query, policy = prepared.query, self._policy
        labels = self._catalogue.documents.labels(found.documents)
        fusion = fuse(
            found,
            {pk: label.content_hash for pk, label in labels.items()},
            meaning_weight=self._weights(labels, prepared, words_ran=words_ran) if found.meaning else _none,
            rank_of_ties=self._passages.rank_by_path,
            policy=policy,
            settled=query.offset + query.limit,
            titled=titled(prepared.question.text, labels),
        )
        places = spread(fusion.places, policy=policy) if query.scope is Scope.CONTENT else one_each(fusion.places)
        read = Texts(self._catalogue)
        places, notes = self._lifted(places, found, prepared.question, read)
        scores = Scores(prepared.wording.best, _facts(prepared.model), policy)
        spots = [
            Spot(
                place.pk,
                place.ordinal,
                chapter_of(fusion, place),
                score=scores.of(fusion, place),
                explain=scores.explained(fusion, place) if query.explain else None,
            )
            for place in places[query.offset : query.offset + query.limit]
        ]
        return _Shown(
            passages=self._passages.load(spots, Finder(prepared.wording.tokens), visible=prepared.visible, read=read),
            total=len(places),
            is_relevant=scores.is_relevant(found),
            notes=notes,
        )

    def _lifted(
        self, places: list[Place], found: Found, question: Question, read: Texts
    ) -> tuple[list[Place], tuple[str, ...]]:
        """Word for word before words here and there: for what stands in quotes, and for a whole line that was typed."""
        if not places:
            return places, ()
        policy = self._policy
        words = question.text.count(" ") + 1
        quoted = sum(text.count(" ") + 1 for text in question.phrases)
        phrases = [phrase for text in question.phrases if (phrase := phrase_of(text)) is not None]
        if phrases and quoted >= policy.quoted_share * words:
            places, is_held = lift_verbatim(places, phrases, read, most=policy.quoted_places, anywhere=True)
            return places, () if is_held else (unheld(question.phrases),)
        if words >= policy.line_words and (line := phrase_of(question.text)) is not None:
            best = {split_key(hit.key)[0] for hit in found.words[: policy.line_hits]}
            places, _ = lift_verbatim(places, [line], read, most=policy.line_places, anywhere=False, also=best)
        return places, ()

    def _weights(self, labels: Mapping[int, Label], prepared: _Prepared, *, words_ran: bool) -> Callable[[int], float]:
        """Of meaning: by class of question, less when it names code; more for documents in another script, less while
        few chunks have a vector."""
        if not words_ran:
            return lambda _pk: 1.0
        whole, policy = prepared.completeness, self._policy
        share = whole.meaning / whole.chunks_expected if whole.chunks_expected else 1.0
        trust = min(1.0, share / policy.full_weight_from)
        usual = policy.meaning_weight[prepared.kind]
        if prepared.wording.names_code:
            usual = min(usual, policy.code_weight)
        usual *= trust
        if not prepared.mixed_scripts:
            return lambda _pk: usual
        raised = max(usual, policy.other_script_weight * trust)
        script = prepared.question.script
        other = {pk for pk, label in labels.items() if is_other_script(script_of_language(label.language), script)}
        return lambda pk: raised if pk in other else usual


def _mode(mode: Mode, question: Question, model: ModelFacts | EmbedderUnavailable) -> Mode:
    if mode is not Mode.AUTO:
        return mode
    can_mean = isinstance(model, ModelFacts) and not _is_foreign(question, model)
    return Mode.HYBRID if can_mean else Mode.KEYWORD


def _is_foreign(question: Question, model: ModelFacts) -> bool:
    """Whether an English-only model cannot read the question."""
    return model.languages == ("en",) and is_other_script(question.script, Script.LATIN)


def _none(_pk: int) -> float:
    return 0.0


def _facts(model: ModelFacts | EmbedderUnavailable) -> ModelFacts | None:
    return model if isinstance(model, ModelFacts) else None


def _hits(found: FoundByWords) -> Sequence[Hit]:
    return found.hits if isinstance(found, Hits) else ()


def _card_hits(hits: Sequence[Hit], policy: SearchPolicy) -> Sequence[Hit]:
    return [hit for hit in hits if split_key(hit.key)[1] == CARD_ORDINAL][: policy.leg_limit]
