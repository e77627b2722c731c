"""`armillary read`: the text of a document or a part of it."""

from __future__ import annotations

from typing import Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings


def read(
    doc: Annotated[str, typer.Argument(help="Id as `search` shows it: project::path or project::path#chapter.")],
    section: Annotated[str | None, typer.Option("--section", help="A heading, or `A > B`.")] = None,
    lines: Annotated[str | None, typer.Option("--lines", metavar="A-B", help="Only these lines.")] = None,
    page: Annotated[int | None, typer.Option("--page", min=1, help="Only this page.")] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print a document, a section, lines or a page, from the catalogue."""
    from armillary_cli.console import say, say_json
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.domain.token import LOCAL_OWNER
    from armillary_core.usecases.read import Read, ReadRequest

    with open_catalogue(read_settings(data, config)) as catalogue:
        request = ReadRequest(doc, section=section, lines=lines, page=page, max_bytes=1 << 40)
        answer = Read(catalogue)(request, LOCAL_OWNER)
    if as_json:
        say_json(
            {
                "id": answer.document.id,
                "title": answer.document.title,
                "lines": list(answer.lines),
                "total_lines": answer.total_lines,
                "page": answer.page,
                "notes": list(answer.notes),
                "text": answer.text,
            }
        )
    else:
        say(answer.text.removesuffix("\n"))
