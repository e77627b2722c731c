"""The readable text a search returns, with where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from armillary_core.domain.document import ChapterId, DocumentId
from armillary_core.domain.query import LegReport, Mode, QueryClass


@dataclass(frozen=True, slots=True)
class Passage:
    document: DocumentId
    chapter: ChapterId | None
    title: str
    heading_path: tuple[str, ...]
    lines: tuple[int, int] | None
    page: int | None
    start: int  # characters of the document's extracted text
    end: int
    text: str  # the matching stretch, widened to a sensible unit
    snippet: str  # a few words of it; matches between \x02 and \x03
    score: float  # 0..1, absolute
    type: str | None = None
    date: str | None = None
    also_in: tuple[DocumentId, ...] = ()
    stale: bool = False
    explain: dict[str, float | str] | None = None


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of what the catalogue expects the engines hold, over the projects asked."""

    documents: int
    chunks_expected: int
    words: int
    meaning: int
    pending_documents: int = 0
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    passages: tuple[Passage, ...]
    mode: Mode  # what ran (auto says what it chose)
    query_class: QueryClass
    legs: tuple[LegReport, ...]
    completeness: Completeness
    total: int  # documents found before paging, at most what the legs looked at
    relevant: bool  # False = nothing above the floor; the nearest are shown
    mended: dict[str, str] = field(default_factory=dict)  # typed word → word searched instead
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)  # word nobody wrote → nearest
    notes: tuple[str, ...] = ()  # e.g. held projects, English-only model, nothing found and why
    generation: str = ""  # changes when the index is rebuilt; a cursor carries it
