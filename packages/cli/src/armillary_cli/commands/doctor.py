"""`armillary doctor`: is everything there that Armillary needs?"""

from __future__ import annotations

import dataclasses

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings


def doctor(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """Check this machine, the data folder, the catalogue, the server and the model; exit code 1 for a fault."""
    from armillary_cli.checks import CHECKS, Verdict
    from armillary_cli.console import bold, dim, say, say_json
    from armillary_cli.exit_codes import ExitCode

    settings = read_settings(data, config)
    findings = [check(settings) for check in CHECKS]
    if as_json:
        say_json([dataclasses.asdict(finding) for finding in findings])
    else:
        for finding in findings:
            say(f"{bold(f'{finding.verdict.value:<6}')} {finding.what:<18} {finding.words}")
            if finding.way_out:
                say(dim(f"{'':<25} {finding.way_out}"))
    if any(finding.verdict is Verdict.FAULT for finding in findings):
        raise typer.Exit(ExitCode.FAILED)
