"""`armillary projects`: which folders are indexed."""

from __future__ import annotations

from typing import Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

projects_app = typer.Typer(help="Folders that are indexed.", no_args_is_help=True)


@projects_app.command("list")
def list_projects(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """List projects with their state and documents."""
    from armillary_cli.console import say, say_json, say_table, tilde
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import projects_of
    from armillary_core.domain.token import LOCAL_OWNER

    settings = read_settings(data, config)
    with open_catalogue(settings) as catalogue:
        rows = projects_of(settings, catalogue).list(LOCAL_OWNER)
    if as_json:
        say_json(
            [
                {
                    "name": project.name,
                    "folder": project.root,
                    "state": project.state.value,
                    "reason": project.state_reason,
                    "private": project.private,
                    "documents": counts.documents - counts.desync,
                }
                for project, counts in rows
            ]
        )
    elif rows:
        say_table(
            ("project", "state", "documents", "folder"),
            [
                (
                    project.name + (" (private)" if project.private else ""),
                    project.state.value + (f": {project.state_reason}" if project.state_reason else ""),
                    f"{counts.documents - counts.desync:,}",
                    tilde(project.root),
                )
                for project, counts in rows
            ],
            right=(2,),
        )
    else:
        say("No project yet: armillary projects add DIR")


@projects_app.command("add")
def add_project(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder; nothing is ever written into it.")],
    name: Annotated[str | None, typer.Option("--name", help="Its name [default: from the folder's].")] = None,
    private: Annotated[bool, typer.Option("--private", help="Seen only by tokens that name it.")] = False,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Index one more folder; a running server begins within a second."""
    from armillary_cli.console import say, say_json
    from armillary_cli.owner import is_owned
    from armillary_cli.preflight import resolve_folders
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import projects_of
    from armillary_core.domain.token import LOCAL_OWNER

    settings = read_settings(data, config)
    [root] = resolve_folders([folder], settings.data)
    with open_catalogue(settings) as catalogue:
        added = projects_of(settings, catalogue).add(root, LOCAL_OWNER, name=name, private=private or None)
    project = added.project
    if as_json:
        say_json({"name": project.name, "folder": project.root, "private": project.private, "new": added.is_new})
        return
    what = "is a project now" if added.is_new else "was a project already"
    then = "" if is_owned(settings.data) else "; `armillary up` indexes it"
    say(f"{project.name} ({project.root}) {what}{then}.")


@projects_app.command("remove")
def remove_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="NAME", help="The name again, when enriched cards would be lost.")
    ] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Forget a project; its files stay as they are."""
    from armillary_cli.console import say, say_json
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import projects_of
    from armillary_core.domain.token import LOCAL_OWNER

    settings = read_settings(data, config)
    with open_catalogue(settings) as catalogue:
        forgotten = projects_of(settings, catalogue).remove(name, LOCAL_OWNER, confirm=confirm)
    if as_json:
        say_json({"name": name, "documents": forgotten.documents})
    else:
        say(f"{name} is forgotten ({forgotten.documents:,} documents). Its files are untouched.")
