"""What there is: projects, lists of cards, outlines, one card with all that is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from armillary_core.domain.card import Card, CardEvent, checked_date
from armillary_core.domain.chapter import Chapter
from armillary_core.domain.document import Document
from armillary_core.domain.errors import InvalidRequestError
from armillary_core.domain.project import Project, ProjectCounts, ProjectName
from armillary_core.domain.token import Caller
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.cards import CardListing
from armillary_core.usecases.resolve import Resolve, shown

LISTED_STATES = ("stale", "empty", "desync", "diverged", "failed")
SORTS = ("path", "date", "title")
MAX_LIMIT = 200
_EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class DocType:
    name: str
    description: str
    documents: int
    example: str | None = None  # id of one document


@dataclass(frozen=True, slots=True)
class Cosmos:
    """The way in: everything a caller may see, in one look."""

    projects: tuple[tuple[Project, ProjectCounts], ...]
    types: tuple[DocType, ...]
    locales: dict[str, int]
    versions: dict[str, int]
    languages: dict[str, int]
    caller: Caller


@dataclass(frozen=True, slots=True)
class DocsQuery:
    """Filters and order of a list; None = any."""

    project: str | None = None
    type: str | None = None
    state: str | None = None
    path: str | None = None
    locale: str | None = None
    version: str | None = None
    since: str | None = None
    until: str | None = None
    sort: str = "path"
    limit: int = 50
    offset: int = 0
    after: tuple[int, ...] = ()  # pks of the last documents seen, the very last first: see _place


@dataclass(frozen=True, slots=True)
class CardPage:
    cards: tuple[Card, ...]
    total: int
    is_last: bool
    note: str = ""  # why it is empty


@dataclass(frozen=True, slots=True)
class FoundChapter:
    document: Document
    chapter: Chapter


@dataclass(frozen=True, slots=True)
class ChapterPage:
    chapters: tuple[FoundChapter, ...]
    total: int
    offset: int
    revision: int = 0  # of the document, when it is the outline of one
    note: str = ""


@dataclass(frozen=True, slots=True)
class CardView:
    card: Card
    copies: tuple[Document, ...]
    history: tuple[CardEvent, ...]
    chapters: int


class Browse:
    """Reads the catalogue, so a writer sees its own write at once."""

    def __init__(self, catalogue: Catalogue, *, doc_types: Mapping[str, str] | None = None) -> None:
        self._catalogue = catalogue
        self._doc_types = dict(doc_types or {})
        self._resolve = Resolve(catalogue)

    def cosmos(self, caller: Caller) -> Cosmos:
        """Projects with counts and states, types, locales, versions, and what this caller may do."""
        projects = self._resolve.visible(caller)
        names = [project.name for project in projects]
        counts = self._catalogue.projects.counts(names)
        facets = self._catalogue.projects.facets(names)
        return Cosmos(
            projects=tuple((project, counts.get(project.name, ProjectCounts())) for project in projects),
            types=tuple(self._types(names)),
            locales=dict(facets.get("locale", {})),
            versions=dict(facets.get("version", {})),
            languages=dict(facets.get("language", {})),
            caller=caller,
        )

    def docs(self, query: DocsQuery, caller: Caller) -> CardPage:
        """One page of cards. Raises InvalidRequestError, ProjectNotFoundError."""
        names = self._resolve.names(caller, query.project)
        _check_choice("state", query.state, LISTED_STATES)
        _check_choice("sort", query.sort, SORTS)
        limit = min(max(query.limit, 1), MAX_LIMIT)
        after = self._place(query)
        visible = self._resolve.names(caller)
        listing = CardListing(
            projects=names,
            type=query.type or None,
            state=query.state,
            path=_folder(query.path),
            locale=query.locale or None,
            version=query.version or None,
            since=_bound("since", query.since),
            until=_bound("until", query.until),
            sort=query.sort,
            limit=limit + 1,  # one more tells whether there is a next page
            offset=max(query.offset, 0) if after is None else 0,
            after=after,
            seen=visible,
        )
        cards, total = self._catalogue.cards.list(listing)
        return CardPage(
            cards=tuple(_as_seen(card, set(visible)) for card in cards[:limit]),
            total=total,
            is_last=len(cards) <= limit,
            note="" if total else self._why_empty(query, names),
        )

    def chapters(
        self,
        caller: Caller,
        *,
        doc: str | None = None,
        project: str | None = None,
        name: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> ChapterPage:
        """The outline of one document, or chapters by name over projects. Raises NotFoundError,
        InvalidRequestError."""
        limit, offset = min(max(limit, 1), MAX_LIMIT), max(offset, 0)
        if doc is not None:
            return self._outline(doc, caller, name=name, limit=limit, offset=offset)
        if name is None or not name.strip():
            raise InvalidRequestError("Give doc for the outline of one document, or name to find chapters by name.")
        names = self._resolve.names(caller, project)
        refs, total = self._catalogue.documents.chapters_named(names, name.strip(), limit=limit, offset=offset)
        return ChapterPage(
            chapters=tuple(FoundChapter(ref.document, ref.chapter) for ref in refs),
            total=total,
            offset=offset,
            note="" if total else f'No chapter name contains "{shown(name)}"; search_docs looks into the text.',
        )

    def card(self, doc: str, caller: Caller, *, history: int = 10) -> CardView:
        """One card. Raises NotFoundError."""
        document = self._resolve.document(doc, caller)
        names = self._resolve.names(caller)
        card = self._catalogue.cards.get(document.pk) or Card(document)
        seen = _as_seen(card, set(names))
        return CardView(
            card=seen,
            copies=tuple(self._catalogue.documents.copies(document, names)) if document.present else (),
            history=tuple(self._catalogue.cards.history(document.pk, limit=history)),
            chapters=len(self._catalogue.documents.chapters(document.pk)),
        )

    def _place(self, query: DocsQuery) -> tuple[ProjectName, bytes] | None:
        """In path order the last document that is still there says where to go on, so that nothing is missed or
        repeated while files come and go."""
        if not query.after or query.sort != "path":
            return None
        seen = self._catalogue.documents.by_pk(query.after)
        return next(((seen[pk].project, seen[pk].path) for pk in query.after if pk in seen), None)

    def _outline(self, doc: str, caller: Caller, *, name: str | None, limit: int, offset: int) -> ChapterPage:
        document = self._resolve.document(doc, caller)
        chapters = self._catalogue.documents.chapters(document.pk)
        wanted = " ".join((name or "").split()).casefold()
        found = [chapter for chapter in chapters if wanted in chapter.name.casefold()] if wanted else chapters
        note = ""
        if not chapters:
            note = f"{document.id} has no outline" + (f": {document.reason}." if document.reason else ".")
        elif not found:
            note = (
                f'No chapter of {document.id} has "{shown(name or "")}" in its name; it has {len(chapters)} chapters.'
            )
        return ChapterPage(
            chapters=tuple(FoundChapter(document, chapter) for chapter in found[offset : offset + limit]),
            total=len(found),
            offset=offset,
            revision=document.content_revision,
            note=note,
        )

    def _types(self, names: Sequence[ProjectName]) -> list[DocType]:
        used = self._catalogue.projects.types(names)
        ordered = sorted(used, key=lambda name: (-used[name], name))
        types: list[DocType] = []
        for name in (*ordered, *(name for name in self._doc_types if name not in used)):
            example: str | None = None
            if len(types) < _EXAMPLES and used.get(name):
                cards, _ = self._catalogue.cards.list(CardListing(projects=tuple(names), type=name, limit=1))
                example = str(cards[0].id) if cards else None
            types.append(DocType(name, self._doc_types.get(name, ""), used.get(name, 0), example))
        return types

    def _why_empty(self, query: DocsQuery, names: Sequence[ProjectName]) -> str:
        if not names:
            return "There is no project yet."
        counts = self._catalogue.projects.counts(names)
        documents = sum(count.documents for count in counts.values())
        where = f'Project "{query.project}" has' if query.project else f"The {len(names)} projects have"
        if not documents:
            return f"{where} no documents yet."
        if query.type:
            used = self._catalogue.projects.types(names)
            if query.type not in used:
                known = ", ".join(sorted(used, key=lambda name: -used[name])[:12]) or "none yet"
                return f'No document has type "{shown(query.type, 60)}". Types in use: {known}.'
        return f"No document matches these filters. {where} {documents} documents."


def _as_seen(card: Card, visible: set[ProjectName]) -> Card:
    """The card as someone who sees only these projects knows it: divergence from others is not shown."""
    if not card.diverged_from:
        return card
    kept = tuple(former for former in card.diverged_from if former.partition("::")[0] in visible)
    return card if kept == card.diverged_from else replace(card, diverged_from=kept)


def _check_choice(field: str, value: str | None, allowed: Sequence[str]) -> None:
    if value is not None and value not in allowed:
        raise InvalidRequestError(f'{field} "{shown(value, 40)}" is not known. One of: {", ".join(allowed)}.')


def _bound(field: str, text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    try:
        return checked_date(text.strip())
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{field}: {error}") from error


def _folder(path: str | None) -> str | None:
    if path is None:
        return None
    return path.strip().replace("\\", "/").removeprefix("./").strip("/") or None
