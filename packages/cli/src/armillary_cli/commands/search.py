"""`armillary search`: passages that answer a question."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings


class ModeChoice(StrEnum):
    AUTO = "auto"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class ScopeChoice(StrEnum):
    CONTENT = "content"
    CARDS = "cards"
    TITLES = "titles"
    REFERENCE = "reference"


def search(
    words: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words, a question, a name or error text.")],
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only this project.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Only documents of this type.")] = None,
    path: Annotated[str | None, typer.Option("--path", help="Only below this folder of the project.")] = None,
    mode: Annotated[ModeChoice, typer.Option("--mode", help="How to search.")] = ModeChoice.AUTO,
    scope: Annotated[ScopeChoice, typer.Option("--scope", help="What to search.")] = ScopeChoice.CONTENT,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=25, help="At most so many.")] = 8,
    full: Annotated[bool, typer.Option("--full", help="Whole passages.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Scores of each leg.")] = False,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Search all projects; starts the server when it does not run. Exit code 1 when nothing relevant was found."""
    from armillary_cli.client import call_tool
    from armillary_cli.console import say_json
    from armillary_cli.exit_codes import ExitCode
    from armillary_cli.server_process import running_server

    settings = read_settings(data, config)
    owner = running_server(settings, config=config)
    arguments = {
        "query": " ".join(words),
        "mode": mode.value,
        "scope": scope.value,
        "project": project,
        "type": type_,
        "path": path,
        "limit": limit,
        "detail": "full" if full else "snippets",
        "explain": explain,
    }
    answer = call_tool(
        owner.url, "search_docs", {name: value for name, value in arguments.items() if value is not None}
    )
    hits = answer.structured.get("hits", [])
    if as_json:
        say_json(answer.structured)
    else:
        _show(hits, str(answer.structured.get("status", "")))
    if not hits or not answer.structured.get("relevant", True):
        raise typer.Exit(ExitCode.FAILED)


def _show(hits: list[dict[str, Any]], status: str) -> None:
    from armillary_cli.console import bold, dim, say

    for hit in hits:
        where = [f"lines {hit['lines']}"] if "lines" in hit else []
        where += [f"page {hit['page']}"] if "page" in hit else []
        where += [hit["type"]] if "type" in hit else []
        where += [hit["date"]] if "date" in hit else []
        where += ["card is stale"] if hit.get("stale") else []
        say(f"{hit['score']:.2f}  {bold(hit['id'])}")
        if hit.get("heading"):
            say(f"      {hit['heading']}")
        if where:
            say(dim(f"      {', '.join(where)}"))
        for line in str(hit.get("text") or hit.get("snippet") or "").splitlines():
            say(f"      {line}")
        if "also_in" in hit:
            say(dim(f"      also in {', '.join(hit['also_in'])}"))
        if "explain" in hit:
            say(dim(f"      {'  '.join(f'{name}={value}' for name, value in hit['explain'].items())}"))
        say()
    say(dim(status))
