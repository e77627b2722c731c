"""From what a caller typed to the document or chapter it names, within the projects the caller may see."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from armillary_core.domain.chapter import Chapter
from armillary_core.domain.document import Document, decode_path, split_id
from armillary_core.domain.errors import (
    ChapterNotFoundError,
    DocumentNotFoundError,
    InvalidRequestError,
    ProjectNotFoundError,
)
from armillary_core.domain.project import Project, ProjectName
from armillary_core.domain.token import Caller
from armillary_core.ports.catalogue import Catalogue

SHOWN = 120  # characters of input that a message repeats
_URI = "armillary://"
_NAMED_PROJECTS = 8


@dataclass(frozen=True, slots=True)
class Resolved:
    document: Document
    chapter: Chapter | None = None


class Resolve:
    """What a private project is to a caller without the right: it does not exist, in any message."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def visible(self, caller: Caller) -> list[Project]:
        """The projects this caller may see, by name."""
        return caller.visible(self._catalogue.projects.all())

    def names(self, caller: Caller, project: str | None = None) -> tuple[ProjectName, ...]:
        """Names of the visible projects, or of the one asked for. Raises ProjectNotFoundError."""
        if project is not None:
            return (self.project(project, caller).name,)
        return tuple(found.name for found in self.visible(caller))

    def project(self, name: str, caller: Caller) -> Project:
        """Raises ProjectNotFoundError, with the same words whether the project is private or does not exist."""
        visible = self.visible(caller)
        for project in visible:
            if project.name == name:
                return project
        raise ProjectNotFoundError(f'No project "{shown(name)}". {_known(name, visible)}')

    def document(self, text: str, caller: Caller) -> Document:
        """The document an id names; an anchor is allowed and left aside. Raises NotFoundError."""
        return self(text, caller, want_chapter=False).document

    def __call__(self, text: str, caller: Caller, *, want_chapter: bool = True) -> Resolved:
        """`project::path`, `project::path#anchor`, a path that only one visible project has, or
        `armillary://project/path`. Raises DocumentNotFoundError, ChapterNotFoundError, ProjectNotFoundError,
        InvalidRequestError when a bare path is ambiguous."""
        text = text.strip()
        if not text:
            raise InvalidRequestError("doc is empty. Give an id as search_docs or list_docs shows it: project::path.")
        visible = self.visible(caller)
        document, anchor = self._find(_from_uri(text), visible)
        if anchor is None or not want_chapter:
            return Resolved(document)
        for chapter in self._catalogue.documents.chapters(document.pk):
            if chapter.anchor == anchor:
                return Resolved(document, chapter)
        raise ChapterNotFoundError(
            f'No chapter "#{shown(anchor)}" in {document.id}. list_chapters(doc="{document.id}") shows its outline.'
        )

    def _find(self, text: str, visible: Sequence[Project]) -> tuple[Document, str | None]:
        names = {project.name for project in visible}
        split = split_id(text)
        if split is not None and split[0] in names:
            project, path, anchor = split
            raw = text.partition("::")[2]
            for spelling, found_anchor in _spellings(path, anchor, raw):
                document = self._catalogue.documents.find(project, spelling)
                if document is not None:
                    return document, found_anchor
            raise DocumentNotFoundError(f'No document "{shown(text)}".{self._near((project,), path)}')
        found = self._by_bare_path(text, visible)
        if found is not None:
            return found
        if split is not None:
            raise ProjectNotFoundError(f'No project "{shown(split[0])}". {_known(split[0], visible)}')
        near = self._near([project.name for project in visible], text.partition("#")[0])
        raise DocumentNotFoundError(f'No document "{shown(text)}".{near} An id is project::path.')

    def _by_bare_path(self, text: str, visible: Sequence[Project]) -> tuple[Document, str | None] | None:
        path, hash_sign, anchor = text.rpartition("#")
        encoded, wanted = (path, anchor) if hash_sign else (text, None)
        for spelling, found_anchor in _spellings(encoded, wanted, text):
            found = [
                document
                for project in visible
                if (document := self._catalogue.documents.find(project.name, spelling)) is not None
            ]
            if len(found) > 1:
                listed = ", ".join(str(document.id) for document in found[:_NAMED_PROJECTS])
                more = f" and {len(found) - _NAMED_PROJECTS} more" if len(found) > _NAMED_PROJECTS else ""
                raise InvalidRequestError(f'"{shown(text)}" is in {len(found)} projects: {listed}{more}. Name one.')
            if found:
                return found[0], found_anchor
        return None

    def _near(self, projects: Sequence[ProjectName], path: str) -> str:
        near = self._catalogue.documents.near_paths(projects, path[:500], limit=4)
        return f" Did you mean {', '.join(str(document.id) for document in near)}?" if near else ""


def shown(text: str, limit: int = SHOWN) -> str:
    """Input as a message may repeat it: one line, short, printable."""
    line = "".join(character if character.isprintable() else " " for character in text[: limit + 1])
    return line if len(line) <= limit else line[:limit] + "…"


def _from_uri(text: str) -> str:
    if not text.startswith(_URI):
        return text
    project, _, path = text.removeprefix(_URI).partition("/")
    return f"{project}::{path}"


def _spellings(path: str, anchor: str | None, raw: str) -> Iterator[tuple[bytes, str | None]]:
    """Path bytes an id may mean, likeliest first: percent-decoded, as typed, with the other slash, '#' in the name."""
    seen: set[bytes] = set()

    def fresh(candidate: bytes) -> bool:
        candidate = candidate.strip(b"/")
        if not candidate or candidate in seen:
            return False
        seen.add(candidate)
        return True

    for text, found_anchor in ((path, anchor), (raw, None)):
        for candidate in (
            decode_path(text),
            text.encode("utf-8", "surrogatepass"),
            decode_path(text.replace("\\", "/").removeprefix("./")),
        ):
            if fresh(candidate):
                yield candidate.strip(b"/"), found_anchor


def _known(name: str, visible: Sequence[Project]) -> str:
    names = [str(project.name) for project in visible]
    if not names:
        return "There is no project yet."
    if len(names) > _NAMED_PROJECTS:
        near = difflib.get_close_matches(name[:100], names, n=_NAMED_PROJECTS, cutoff=0.4) or names[:_NAMED_PROJECTS]
        return f"Projects: {', '.join(near)} and {len(names) - len(near)} more (get_cosmos lists them)."
    return f"Projects: {', '.join(names)}."
