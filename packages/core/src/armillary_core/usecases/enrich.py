"""Writing cards: what an agent or person adds to a document."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from armillary_core.domain.card import Card, CardChange, checked_date
from armillary_core.domain.document import Document
from armillary_core.domain.errors import AccessDeniedError, AppError, ConflictError, InvalidRequestError
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Caller, Right
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.clock import Clock
from armillary_core.usecases.resolve import Resolve, shown

MAX_SUMMARY = 4000
MAX_WORDS = 200  # keywords or headings
MAX_WORD = 200  # characters of one of them
MAX_BATCH = 50
_SHORTEST_HASH = 12


@dataclass(frozen=True, slots=True)
class CardWrite:
    """One card to write."""

    doc: str
    change: CardChange
    if_hash: str | None = None  # the document's content hash when it was read, or its first 12 or more digits


@dataclass(frozen=True, slots=True)
class CardWritten:
    """What became of one write in a batch: a card, or the reason why not."""

    doc: str
    card: Card | None = None
    error: AppError | None = None


class Enrich:
    """Every accepted write is on disk when these methods return."""

    def __init__(
        self,
        catalogue: Catalogue,
        clock: Clock,
        *,
        doc_types: Mapping[str, str] | None = None,
        changed: Callable[[], None] | None = None,
    ) -> None:
        """`doc_types` is the vocabulary (name → description), empty = any type; `changed` is told of every write."""
        self._catalogue = catalogue
        self._clock = clock
        self._doc_types = dict(doc_types or {})
        self._changed = changed or (lambda: None)
        self._resolve = Resolve(catalogue)

    @property
    def doc_types(self) -> Mapping[str, str]:
        return self._doc_types

    def update(self, write: CardWrite, caller: Caller) -> Card:
        """Write the passed fields of one card. Raises InvalidRequestError, NotFoundError, ConflictError,
        AccessDeniedError."""
        _require_enrich(caller)
        document = self._resolve.document(write.doc, caller)
        change = self._checked(write.change, document)
        try:
            card = self._catalogue.cards.update(
                document.pk,
                change,
                by=caller.name,
                at=self._clock.now(),
                if_hash=_full_hash(write.if_hash, document),
            )
        except ConflictError as error:
            raise ConflictError(
                f"{document.id} changed since it was read (its hash is now {(document.content_hash or '-')[:16]}). "
                "Read it again, then write the card."
            ) from error
        self._changed()
        return card

    def update_many(self, writes: Sequence[CardWrite], caller: Caller) -> list[CardWritten]:
        """Write several cards, each on its own: one that is refused does not stop the others."""
        _require_enrich(caller)
        if not writes:
            raise InvalidRequestError("cards is empty. Give at least one card.")
        if len(writes) > MAX_BATCH:
            raise InvalidRequestError(f"cards has {len(writes)} entries; at most {MAX_BATCH} in one call.")
        results: list[CardWritten] = []
        for write in writes:
            try:
                results.append(CardWritten(write.doc, card=self.update(write, caller)))
            except AppError as error:
                results.append(CardWritten(write.doc, error=error))
        return results

    def accept_divergence(self, doc: str, caller: Caller) -> tuple[Document, list[Document]]:
        """Clear the flag of a document that left its copies; returns it and the copies it was compared with, as
        far as the caller may see them. Raises InvalidRequestError when there is no flag."""
        _require_enrich(caller)
        document = self._resolve.document(doc, caller)
        visible = set(self._resolve.names(caller))
        former = self._former_copies(document, visible)
        if not former or not self._catalogue.cards.clear_divergence(document.pk):
            raise InvalidRequestError(
                f'{document.id} has no divergence to accept. list_docs(state="diverged") lists those that have.'
            )
        self._changed()
        return document, former

    def _former_copies(self, document: Document, visible: Container[ProjectName]) -> list[Document]:
        flags = self._catalogue.ingest.diverged(document.project).get(document.pk, ())
        return [other for other in self._catalogue.documents.by_pk(flags).values() if other.project in visible]

    def _checked(self, change: CardChange, document: Document) -> CardChange:
        if change.is_empty:
            raise InvalidRequestError(
                f"Nothing to write for {document.id}: pass at least one of type, summary, keywords, headings, date."
            )
        return replace(
            change,
            type=self._checked_type(change.type),
            summary=_checked_summary(change.summary),
            keywords=_checked_words("keywords", change.keywords),
            headings=_checked_words("headings", change.headings),
            date=None if change.date is None else checked_date(change.date.strip()),
        )

    def _checked_type(self, wanted: str | None) -> str | None:
        if wanted is None:
            return None
        name = _one_line(wanted)
        if not name:
            return ""
        if self._doc_types and name not in self._doc_types:
            known = ", ".join(list(self._doc_types)[:30])
            raise InvalidRequestError(f'type "{shown(name, 60)}" is not in the vocabulary. Types: {known}.')
        if len(name) > 60:
            raise InvalidRequestError(f"type has {len(name)} characters; at most 60.")
        return name


def _require_enrich(caller: Caller) -> None:
    if not caller.may(Right.ENRICH):
        raise AccessDeniedError("Writing cards needs the right to enrich, which this token does not have.")


def _full_hash(given: str | None, document: Document) -> str | None:
    if given is None:
        return None
    known = document.content_hash or ""
    text = given.strip().lower()
    return known if len(text) >= _SHORTEST_HASH and known.startswith(text) else text


def _checked_summary(text: str | None) -> str | None:
    if text is None:
        return None
    if len(text) > MAX_SUMMARY:
        raise InvalidRequestError(f"summary has {len(text)} characters; at most {MAX_SUMMARY}.")
    return "\n".join(_one_line(line) for line in text.splitlines()).strip()


def _checked_words(field: str, words: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if words is None:
        return None
    unique = tuple(dict.fromkeys(word for word in map(_one_line, words) if word))
    if len(unique) > MAX_WORDS:
        raise InvalidRequestError(f"{field} has {len(unique)} entries; at most {MAX_WORDS}.")
    for word in unique:
        if len(word) > MAX_WORD:
            raise InvalidRequestError(f'{field}: "{shown(word, 40)}" is longer than {MAX_WORD} characters.')
    return unique


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
