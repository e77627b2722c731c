"""`armillary status`: how things stand."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

if TYPE_CHECKING:
    from armillary_cli.owner import Owner
    from armillary_core.usecases.health import HealthReport, ProjectHealth


def status(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """Projects, engines, the model, jobs and disk; exit code 1 when something needs attention."""
    from armillary_cli.console import say_json
    from armillary_cli.exit_codes import ExitCode
    from armillary_cli.owner import find_owner
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import health_of
    from armillary_core.domain.token import LOCAL_OWNER

    settings = read_settings(data, config)
    owner = find_owner(settings.data)
    with open_catalogue(settings) as catalogue:
        report = health_of(settings, catalogue).report(LOCAL_OWNER)
    if as_json:
        say_json({"server": dataclasses.asdict(owner) if owner else None, **dataclasses.asdict(report)})
    else:
        _show(report, owner, settings.data)
    if not report.is_well:
        raise typer.Exit(ExitCode.FAILED)


def _show(report: HealthReport, owner: Owner | None, data: Path) -> None:
    from armillary_cli.console import bold, data_option, dim, say, say_table, size, tilde
    from armillary_core.domain.project import ProjectState

    option = data_option(data)
    running = (
        f"running at {owner.url} (process {owner.pid})" if owner else f"not running; `armillary up{option}` starts it"
    )
    say(f"{bold('Armillary')} {report.versions.get('armillary', '')} is {running}")
    say()
    if report.projects:
        say_table(
            ("project", "state", "documents", "enriched", "failed", "left out", "last good scan", "folder"),
            [_project_row(project, report.at) for project in report.projects],
            right=(2, 3, 4, 5),
        )
        for project in report.projects:
            if project.reason and project.state is ProjectState.OK:  # other states are problems, told at the end
                say(f"{project.name}: {project.reason}")
            if project.skipped:
                rules = ", ".join(f"{count:,} {rule}" for rule, count in sorted(project.skipped.items()))
                say(dim(f"{project.name} left out: {rules}"))
            for failed in project.failed[:5]:
                say(f"{failed.id}: {failed.reason}")
            if len(project.failed) > 5:
                say(dim(f"and {len(project.failed) - 5} more; --json lists them"))
    else:
        say(f"No project yet: armillary up DIR{option}, or armillary projects add DIR{option}")
    say()
    for engine in report.engines:
        held = f": {engine.present:,} of {engine.expected:,}" if engine.expected is not None else ""
        waiting = f", {engine.waiting:,} documents waiting" if engine.waiting else ""
        say(f"{engine.engine.value:<8} {engine.state}{held}{waiting}")
        for refused in engine.given_up[:5]:
            say(f"         refused {refused.id}: {refused.reason}")
    model = report.model
    if model.state == "ready":
        missing = f", {model.missing:,} to be made" if model.missing else ""
        say(f"model    {model.name}: {model.present:,} vectors{missing}")
    else:
        say(f"model    unavailable: {model.reason}")
    for job in report.active_jobs:
        say(f"job {job.id}   {job.state.value} {job.mode.value} of {job.project}: {job.done:,} of {job.total:,}")
    if report.disk is not None:
        disk = report.disk
        say(
            f"disk     catalogue {size(disk.catalogue_bytes)}, engines {size(disk.engines_bytes)}, "
            f"models {size(disk.models_bytes)}, in {tilde(data)}"
        )
    for problem in report.problems:
        say(f"! {problem}")


def _project_row(project: ProjectHealth, now: float) -> tuple[str, ...]:
    from armillary_cli.console import tilde

    counts = project.counts
    return (
        project.name + (" (private)" if project.private else ""),
        project.state.value,
        f"{counts.documents - counts.desync:,}",
        f"{counts.enriched + counts.stale:,}",
        f"{counts.failed:,}",
        f"{sum(project.skipped.values()):,}",
        _ago(project.last_good_scan, now),
        tilde(project.root),
    )


def _ago(then: float | None, now: float) -> str:
    if then is None:
        return "never"
    seconds = max(0, int(now - then))
    if seconds < 120:
        return f"{seconds} s ago"
    if seconds < 7200:
        return f"{seconds // 60} min ago"
    return datetime.datetime.fromtimestamp(then, datetime.UTC).astimezone().strftime("%Y-%m-%d %H:%M")
