"""What an answer says beside its passages: what was cut, what is missing, and why nothing was found."""

from __future__ import annotations

from collections.abc import Sequence

from armillary_core.domain.passage import Completeness
from armillary_core.domain.project import Project, ProjectState
from armillary_core.domain.query import LegReport, Scope, SearchQuery
from armillary_core.text.query import Question
from armillary_core.usecases.narrowing import is_narrowed
from armillary_core.usecases.resolve import shown

_NAMED = 5


def notes_of(
    query: SearchQuery,
    question: Question,
    projects: Sequence[Project],
    completeness: Completeness,
    legs: Sequence[LegReport],
    *,
    is_empty: bool,
) -> tuple[str, ...]:
    """In order of importance."""
    notes: list[str] = []
    if query.scope is Scope.REFERENCE:
        notes.append("Published reference catalogues are not searched yet; scope=content searches the projects.")
    elif is_empty:
        notes += _why_empty(query, projects, completeness)
    notes += _gaps(projects)
    notes += [leg.reason[:1].upper() + leg.reason[1:] + "." for leg in legs if leg.state == "off" and leg.reason]
    if question.is_cut:
        notes.append(f"Only the first {len(question.text)} characters of the query were searched.")
    return tuple(dict.fromkeys(notes))


def unheld(phrases: Sequence[str]) -> str:
    """The note for phrases that nothing holds."""
    listed = ", ".join(f'"{shown(phrase, 60)}"' for phrase in phrases)
    return f"Nothing holds {listed} as it stands; shown is what holds the words."


def _why_empty(query: SearchQuery, projects: Sequence[Project], completeness: Completeness) -> list[str]:
    if not projects:
        return ["There is no project yet."]
    if not completeness.documents:
        where = f'Project "{projects[0].name}" has' if query.project is not None else "The projects have"
        return [f"{where} no documents yet."]
    notes = []
    if completeness.pending_documents:
        notes.append(f"{completeness.pending_documents} of {completeness.documents} documents are still being indexed.")
    if is_narrowed(query):
        notes.append("Only a part of the documents was searched: leave out type, path, locale, version or dates.")
    elif query.scope is not Scope.CONTENT:
        notes.append("Only names were searched." if query.scope is Scope.TITLES else "Only cards were searched.")
    elif query.offset:
        notes.append("There are no more results.")
    return notes


def _gaps(projects: Sequence[Project]) -> list[str]:
    """Projects whose answers may be old or not there yet."""
    notes = []
    for state, words in (
        (ProjectState.HELD, "held since the last scan looked wrong, answers may be old"),
        (ProjectState.UNREACHABLE, "its folder is not reachable, answers may be old"),
        (ProjectState.NEW, "not scanned yet"),
    ):
        names = [str(project.name) for project in projects if project.state is state]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            notes.append(f"{', '.join(names[:_NAMED])}{more}: {words}.")
    return notes
