"""`armillary why`: why a path is, or is not, a document."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary_core.domain.project import Project


def why(
    path: Annotated[str, typer.Argument(help="A file or folder in a project, or a document id.")],
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Show, step by step, why a file is indexed or left out; exit code 1 when it is left out."""
    from armillary_cli.console import bold, dim, say, say_json
    from armillary_cli.exit_codes import ExitCode
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.source import open_source
    from armillary_core.domain.document import document_id

    with open_catalogue(read_settings(data, config)) as catalogue:
        project, relative = _locate(path, catalogue.projects.all())
        steps = open_source().explain(project, relative) if relative else []
        document = catalogue.documents.find(project.name, relative) if relative else None
        below = relative + b"/" if relative else b""
        everything = [] if document else catalogue.documents.in_project(project.name)
        inside = sum(known.path.startswith(below) for known in everything)
        left_out = catalogue.documents.skipped_counts(project.name) if not relative else {}
    identity = document_id(project.name, relative) if relative else project.name
    is_left_out = any(step.verdict == "skip" for step in steps)
    if not relative:
        rules = ", ".join(f"{count:,} {rule}" for rule, count in sorted(left_out.items()))
        now = f"the folder of a project, {project.state.value}, {inside:,} documents, left out: {rules or 'nothing'}"
    elif inside or any(step.rule == "folder" for step in steps):
        now = f"a folder, {inside:,} documents below it"
    elif document is None:
        now = "not in the catalogue" if is_left_out else "not in the catalogue yet; the next scan takes it in"
    elif not document.present:
        now = "in the catalogue without its file (desync): only the card is kept"
    else:
        reason = f": {document.reason}" if document.reason else ""
        now = f"in the catalogue, {document.state.value}{reason}, {document.lines:,} lines, {document.media_type}"
    if as_json:
        say_json(
            {
                "id": identity,
                "indexed": not is_left_out,
                "steps": [{"rule": step.rule, "verdict": step.verdict, "detail": step.detail} for step in steps],
                "state": document.state.value if document else None,
                "reason": document.reason if document else None,
                "present": document.present if document else False,
            }
        )
    else:
        say(bold(identity))
        for step in steps:
            mark = "left out" if step.verdict == "skip" else "passes"
            say(f"  {mark:<9} {step.rule:<16} {dim(step.detail)}")
        say(f"  {'now':<9} {now}")
    if is_left_out:
        raise typer.Exit(ExitCode.FAILED)


def _locate(text: str, projects: Sequence[Project]) -> tuple[Project, bytes]:
    """The project and the path in it, empty for its own folder.

    The last part is not followed when it is a link: the link is the question.
    """
    from armillary_core.domain.document import decode_path, split_id
    from armillary_core.domain.errors import NotFoundError

    by_name = {project.name: project for project in projects}
    if (split := split_id(text)) is not None and split[0] in by_name:
        return by_name[split[0]], decode_path(split[1])
    given = Path(text).expanduser().absolute()
    spellings = [given.parent.resolve() / given.name, given.resolve(), Path(os.path.normpath(given))]
    for spelling in spellings:
        for project in projects:
            if spelling.is_relative_to(project.root):
                inside = spelling.relative_to(project.root)
                return project, os.fsencode(inside) if inside.parts else b""
    known = ", ".join(f"{project.name} ({project.root})" for project in projects) or "none"
    raise NotFoundError(f"{text} lies in no project. Projects: {known}.")
