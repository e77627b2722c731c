"""A question and the filters on it. One filter model is compiled by every engine adapter."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from armillary_core.domain.project import ProjectName


class Mode(StrEnum):
    AUTO = "auto"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Scope(StrEnum):
    CONTENT = "content"
    CARDS = "cards"
    TITLES = "titles"
    REFERENCE = "reference"


class Detail(StrEnum):
    REFS = "refs"
    SNIPPETS = "snippets"
    FULL = "full"


class QueryClass(StrEnum):
    IDENTIFIER = "identifier"
    ERROR_TEXT = "error_text"
    NAVIGATIONAL = "navigational"
    QUESTION = "question"


class Field(StrEnum):
    """Payload fields that engines filter by."""

    PROJECT = "project"
    TYPE = "type"
    FOLDERS = "folders"  # hashes of every ancestor folder and of the document's own path
    MEDIA_TYPE = "media_type"
    LOCALE = "locale"
    VERSION = "version"
    DATE = "date"  # days since 1970-01-01 as an integer
    STATE = "state"  # every CardState that applies
    DOCUMENT = "document"  # the document's pk


@dataclass(frozen=True, slots=True)
class Eq:
    field: Field
    value: str | int


@dataclass(frozen=True, slots=True)
class In:
    field: Field
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Inclusive bounds; None = open."""

    field: Field
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


Filter: TypeAlias = Eq | In | Range | All | AnyOf | Not


@dataclass(frozen=True, slots=True)
class SearchQuery:
    text: str
    mode: Mode = Mode.AUTO
    scope: Scope = Scope.CONTENT
    project: ProjectName | None = None
    type: str | None = None
    path: str | None = None  # a folder or document path, encoded as outside; either slash
    media_type: str | None = None
    locale: str | None = None
    version: str | None = None
    since: str | None = None  # YYYY-MM-DD
    until: str | None = None
    limit: int = 8
    offset: int = 0
    detail: Detail = Detail.SNIPPETS
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk or card from one leg, with that engine's score; lives only inside search."""

    key: int  # ChunkKey for words and meaning
    score: float


@dataclass(frozen=True, slots=True)
class NameHit:
    """One card or chapter found by its name."""

    document: int  # pk
    chapter: int | None  # ordinal; None = the card itself
    match: MatchClass
    score: float  # within its class, 0..1


class MatchClass(StrEnum):
    EXACT = "exact"  # the whole name (title, file name, path, identifier), case and accents aside
    PREFIX = "prefix"  # all words, the last one perhaps unfinished
    WORDS = "words"  # all words somewhere in the name
    FUZZY = "fuzzy"  # all words, with typing mistakes
    PARTIAL = "partial"  # some words


@dataclass(frozen=True, slots=True)
class Hits:
    hits: tuple[Hit, ...]
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class NameHits:
    hits: tuple[NameHit, ...]
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class LegUnavailable:
    reason: str


@dataclass(frozen=True, slots=True)
class LegReport:
    """What an answer says of one leg."""

    name: str  # words, meaning, names
    state: str  # ok, off, unavailable
    reason: str = ""
    hits: int = 0
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Token ids and weights, parallel."""

    ids: tuple[int, ...] = ()
    weights: tuple[float, ...] = field(default=())
