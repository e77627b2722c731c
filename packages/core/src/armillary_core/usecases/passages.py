"""From places in documents to the readable text a search returns."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from armillary_core.domain.card import Card
from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.domain.chunk import Chunk, chunk_key
from armillary_core.domain.document import DocumentId, chapter_id, encode_path
from armillary_core.domain.passage import Passage
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.text.matches import Finder, Match, within
from armillary_core.text.snippets import cut_snippet
from armillary_core.text.stretches import Stretch, choose_stretch, signature
from armillary_core.usecases.search_policy import SearchPolicy

_CODE = frozenset({ChapterKind.FUNCTION, ChapterKind.METHOD, ChapterKind.CLASS})


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document, and what is shown beside its text."""

    pk: int
    ordinal: int  # of the chunk; -1 = the document's lead
    chapter: int | None  # ordinal of the chapter to show, whatever the chunk
    score: float  # absolute
    explain: dict[str, float | str] | None = None


@dataclass(frozen=True, slots=True)
class _Region:
    """Where in a document to look: around one chunk, one chapter, or the beginning."""

    start: int
    end: int
    spans: tuple[tuple[int, int, int], ...]  # chapter ordinal, start, end


class Texts:
    """Texts and chunks of some documents, each read once for an answer."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._documents = catalogue.documents
        self._texts: dict[int, str] = {}
        self._chunks: dict[int, Chunk | None] = {}

    def texts(self, pks: Iterable[int]) -> Mapping[int, str]:
        """Of these documents at least; "" where there is none."""
        missing = {pk for pk in pks if pk not in self._texts}
        if missing:
            self._texts |= dict.fromkeys(missing, "") | self._documents.texts(missing)
        return self._texts

    def chunk(self, pk: int, ordinal: int) -> Chunk | None:
        """The chunk, or the first one for a document's lead (-1)."""
        key = chunk_key(pk, max(ordinal, 0))
        if key not in self._chunks:
            self._load(key)
        return self._chunks[key]

    def chunks(self, places: Iterable[tuple[int, int]]) -> None:
        """Read these at once, so that each is there when it is asked for."""
        self._load(*(key for pk, ordinal in places if (key := chunk_key(pk, max(ordinal, 0))) not in self._chunks))

    def _load(self, *keys: int) -> None:
        if keys:
            self._chunks |= dict.fromkeys(keys) | self._documents.chunks_at(keys)


class Passages:
    """Loads what the catalogue knows of some places and picks the text to show."""

    def __init__(self, catalogue: Catalogue, policy: SearchPolicy) -> None:
        self._catalogue = catalogue
        self._policy = policy

    def load(
        self, spots: Sequence[Spot], finder: Finder, *, visible: Sequence[ProjectName], read: Texts | None = None
    ) -> list[Passage]:
        """A passage for each place, in order; `visible` bounds the copies that are named. What vanished meanwhile is
        left out."""
        read = read or Texts(self._catalogue)
        pks = list(dict.fromkeys(spot.pk for spot in spots))
        if not pks:
            return []
        cards = self._catalogue.cards.by_pk(pks)
        texts = read.texts(pks)
        copies = self._copies(cards.values(), visible)
        read.chunks((spot.pk, spot.ordinal) for spot in spots)
        outlines = {
            pk: {chapter.ordinal: chapter for chapter in chapters}
            for pk, chapters in self._catalogue.documents.outlines(pks).items()
        }
        passages: list[Passage] = []
        for spot in spots:
            pk = spot.pk
            card = cards.get(pk)
            if card is None or not card.document.present:
                continue
            outline = outlines.get(pk, {})
            region = self._region(spot, texts[pk], outline, read)
            passages.append(self._passage(spot, card, texts[pk], outline, region, finder, copies.get(pk, ())))
        return passages

    def rank_by_path(self, pks: Sequence[int]) -> dict[int, int]:
        """Documents in the order of project and path."""
        documents = self._catalogue.documents.by_pk(pks).values()
        ordered = sorted(documents, key=lambda document: (document.project, document.path))
        return {document.pk: rank for rank, document in enumerate(ordered)}

    def _copies(self, cards: Iterable[Card], visible: Sequence[ProjectName]) -> dict[int, tuple[DocumentId, ...]]:
        hashes = {card.document.content_hash: card.document.pk for card in cards if card.document.content_hash}
        found = self._catalogue.documents.copies_of(hashes, visible) if hashes else {}
        return {
            hashes[content]: tuple(document.id for document in documents if document.pk != hashes[content])
            for content, documents in found.items()
            if content in hashes
        }

    def _passage(
        self,
        spot: Spot,
        card: Card,
        text: str,
        outline: Mapping[int, Chapter],
        region: _Region,
        finder: Finder,
        also_in: tuple[DocumentId, ...],
    ) -> Passage:
        document = card.document
        chapter: Chapter | None = None
        stretch = Stretch(0, 0)
        matches: list[Match] = []
        if text.strip():
            matches = finder.find(text, region.start, region.end, language=document.language)
            chapter, stretch = self._choose(text, region, outline, matches, finder)
        shown = text[stretch.start : stretch.end]
        return Passage(
            document=document.id,
            chapter=chapter_id(document.id, chapter.anchor) if chapter is not None else None,
            title=document.title or posixpath.basename(encode_path(document.path)),
            heading_path=chapter.path if chapter is not None else (),
            lines=_lines(text, stretch) if text.strip() else None,
            page=chapter.page if chapter is not None else None,
            start=stretch.start,
            end=stretch.end,
            text=f"{stretch.lead}\n{shown}" if stretch.lead else shown,
            snippet=cut_snippet(
                text, stretch.start, stretch.end, matches, size=self._policy.snippet_chars, weights=finder.weights
            )
            if shown
            else (card.summary or "")[: self._policy.snippet_chars],
            score=spot.score,
            type=card.type,
            date=card.date,
            also_in=also_in,
            stale=card.is_stale,
            explain=spot.explain,
        )

    def _region(self, spot: Spot, text: str, outline: Mapping[int, Chapter], read: Texts) -> _Region:
        if spot.chapter is not None and spot.chapter in outline:
            chapter = outline[spot.chapter]
            return _Region(chapter.start, chapter.end, ((chapter.ordinal, chapter.start, chapter.end),))
        chunk = read.chunk(spot.pk, spot.ordinal)
        if chunk is None and spot.ordinal > 0:  # the index is a step behind
            chunk = read.chunk(spot.pk, 0)
        if chunk is None or chunk.end > len(text):
            return _Region(0, min(len(text), self._policy.stretch_chars), ())
        return self._around(chunk, outline)

    def _around(self, chunk: Chunk, outline: Mapping[int, Chapter]) -> _Region:
        """The chunk, and of a chapter that goes on beyond it enough to show whole paragraphs."""
        room = self._policy.stretch_chars // 2
        spans = [(span.chapter, span.start, span.end) for span in chunk.spans]
        first, last = outline.get(spans[0][0]), outline.get(spans[-1][0])
        start = max(first.start, chunk.start - room) if first is not None else chunk.start
        end = min(last.end, chunk.end + room) if last is not None else chunk.end
        if first is not None and len(spans) == 1:
            spans = [(spans[0][0], start, end)]
        return _Region(start, end, tuple(spans))

    def _choose(
        self,
        text: str,
        region: _Region,
        outline: Mapping[int, Chapter],
        matches: Sequence[Match],
        finder: Finder,
    ) -> tuple[Chapter | None, Stretch]:
        """The chapter that holds most of the question, else the first, and the stretch of it to show."""
        size = self._policy.stretch_chars
        if not region.spans:
            return None, choose_stretch(text, region.start, region.end, matches, size=size, weights=finder.weights)
        weights = [round(finder.weight(within(matches, start, end)), 6) for _, start, end in region.spans]
        best = max(range(len(weights)), key=lambda number: (weights[number], -number))
        ordinal, start, end = region.spans[best]
        chapter = outline.get(ordinal)
        stretch = choose_stretch(text, start, end, matches, size=size, weights=finder.weights)
        if chapter is not None and chapter.kind in _CODE and stretch.start > chapter.start:
            opening = signature(text, chapter.start, stretch.start)
            if opening.strip():
                stretch = Stretch(stretch.start, stretch.end, f"{opening}\n…")
        return chapter, self._widened(text, region, best, stretch, weights)

    def _widened(self, text: str, region: _Region, best: int, stretch: Stretch, weights: Sequence[float]) -> Stretch:
        """A short chapter is shown with its neighbours in the chunk while these hold words of the question too."""
        start, end = stretch.start, stretch.end
        size = self._policy.stretch_chars
        for number in range(best + 1, len(region.spans)):
            if weights[number] <= 0 or region.spans[number][2] - start > size or end < region.spans[best][2] - 2:
                break
            end = region.spans[number][2]
        for number in range(best - 1, -1, -1):
            if weights[number] <= 0 or end - region.spans[number][1] > size or stretch.lead:
                break
            start = region.spans[number][1]
        return Stretch(start, end, stretch.lead) if (start, end) != (stretch.start, stretch.end) else stretch


def _lines(text: str, stretch: Stretch) -> tuple[int, int]:
    first = text.count("\n", 0, stretch.start) + 1
    return first, first + text.count("\n", stretch.start, max(stretch.start, stretch.end))
