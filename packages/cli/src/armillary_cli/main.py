"""The `armillary` command."""

from __future__ import annotations

import sys

import typer

from armillary_cli.commands.up import up
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
app.command()(up)


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
