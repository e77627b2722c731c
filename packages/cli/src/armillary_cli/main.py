"""The `armillary` command."""

from __future__ import annotations

import sys

import typer

from armillary_cli.commands.config import config_app
from armillary_cli.commands.connect import connect
from armillary_cli.commands.doctor import doctor
from armillary_cli.commands.models import models_app
from armillary_cli.commands.projects import projects_app
from armillary_cli.commands.read import read
from armillary_cli.commands.reindex import reindex
from armillary_cli.commands.search import search
from armillary_cli.commands.status import status
from armillary_cli.commands.stdio import stdio
from armillary_cli.commands.stop import stop
from armillary_cli.commands.tokens import tokens_app
from armillary_cli.commands.up import up
from armillary_cli.commands.version import version
from armillary_cli.commands.why import why
from armillary_cli.console import complain
from armillary_cli.exit_codes import ExitCode, exit_code
from armillary_core.domain.errors import AppError

app = typer.Typer(
    name="armillary",
    help="One searchable place for what is written in all of your projects.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (up, search, read, status, why, reindex, connect, stdio, stop, doctor, version):
    app.command()(command)
for name, group in (
    ("projects", projects_app),
    ("models", models_app),
    ("tokens", tokens_app),
    ("config", config_app),
):
    app.add_typer(group, name=name)


def main() -> None:
    """Run one command; an error is one line on standard error and an exit code."""
    try:
        app()
    except AppError as failed:
        complain(failed.message)
        sys.exit(exit_code(failed))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `armillary … | head`
        sys.stderr.close()
        sys.exit(ExitCode.OK)


if __name__ == "__main__":
    main()
