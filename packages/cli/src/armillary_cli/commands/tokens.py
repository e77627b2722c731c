"""`armillary tokens`: who may call."""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

if TYPE_CHECKING:
    from armillary_core.domain.token import Token

tokens_app = typer.Typer(help="Tokens of agents and people.", no_args_is_help=True)


class RightChoice(StrEnum):
    READ = "read"
    ENRICH = "enrich"
    MANAGE = "manage"


@tokens_app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="Who uses it, for example `laptop`.")],
    right: Annotated[
        RightChoice, typer.Option("--right", help="enrich includes read; manage includes both.")
    ] = RightChoice.ENRICH,
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project", "-p", help="Only these projects (again for each) [default: all that are not private]."
        ),
    ] = None,
    days: Annotated[float | None, typer.Option("--days", help="Valid for so many days [default: for ever].")] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Make a token and show it once; only its hash is kept."""
    from armillary_cli.console import complain, say, say_json
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import tokens_of
    from armillary_core.domain.token import LOCAL_OWNER, Right

    with open_catalogue(read_settings(data, config)) as catalogue:
        made = tokens_of(catalogue).create(
            name, LOCAL_OWNER, rights=[Right(right.value)], projects=project or None, days=days
        )
    if as_json:
        say_json({"token": made.secret, **_facts(made.token)})
    else:
        say(made.secret)
        complain(f"token {made.token.name!r} is made; it is shown this once. Send it as `Authorization: Bearer …`.")


@tokens_app.command("list")
def list_tokens(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """List tokens with rights and last use."""
    from armillary_cli.console import say, say_json, say_table
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import tokens_of
    from armillary_core.domain.token import LOCAL_OWNER

    with open_catalogue(read_settings(data, config)) as catalogue:
        tokens = [_facts(token) for token in tokens_of(catalogue).all(LOCAL_OWNER)]
    if as_json:
        say_json(tokens)
    elif tokens:
        columns = ("name", "rights", "projects", "made", "expires", "last seen")
        rows = [
            (
                str(token["name"]),
                ", ".join(token["rights"]),
                ", ".join(token["projects"]) if token["projects"] is not None else "all shared",
                str(token["created"])[:10],
                str(token["expires"] or "never")[:10],
                str(token["last_seen"] or "never")[:16],
            )
            for token in tokens
        ]
        say_table(columns, rows)
    else:
        say("No token yet: armillary tokens create NAME")


@tokens_app.command("revoke")
def revoke_token(
    name: Annotated[str, typer.Argument(help="Name of the token.")],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Refuse a token from now on."""
    from armillary_cli.console import say
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import tokens_of
    from armillary_core.domain.token import LOCAL_OWNER

    with open_catalogue(read_settings(data, config)) as catalogue:
        tokens_of(catalogue).revoke(name, LOCAL_OWNER)
    say(f"Token {name} is revoked.")


def _facts(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "rights": sorted(right.value for right in token.rights),
        "projects": list(token.projects) if token.projects is not None else None,
        "created": _iso(token.created_at),
        "expires": _iso(token.expires_at),
        "last_seen": _iso(token.last_seen),
    }


def _iso(at: float | None) -> str | None:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat(timespec="seconds") if at is not None else None
