"""`armillary reindex`: look again, clean up, or begin anew."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

if TYPE_CHECKING:
    from armillary_core.domain.job import Job
    from armillary_core.ports.catalogue import Catalogue

POLL_SECONDS = 0.2


class ModeChoice(StrEnum):
    UPDATE = "update"
    CLEAN = "clean"
    REBUILD = "rebuild"


def reindex(
    project: Annotated[str | None, typer.Argument(help="Only this project [default: all].")] = None,
    mode: Annotated[
        ModeChoice,
        typer.Option(
            "--mode",
            help="update: look for changes; clean: also drop cards of vanished files and confirm a held project; "
            "rebuild: also drop enrichment, after a backup.",
        ),
    ] = ModeChoice.UPDATE,
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="NAME", help="For rebuild: the name again.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end.")] = True,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Index projects again; starts the server when it does not run."""
    from armillary_cli.console import say, say_json
    from armillary_cli.exit_codes import ExitCode
    from armillary_cli.report import scan_words
    from armillary_cli.server_process import running_server
    from armillary_core.bootstrap.catalogue import open_catalogue
    from armillary_core.bootstrap.usecases import reindex_of
    from armillary_core.domain.job import JobState, ReindexMode
    from armillary_core.domain.token import LOCAL_OWNER

    settings = read_settings(data, config)
    with open_catalogue(settings) as catalogue:
        jobs = reindex_of(catalogue).request(
            LOCAL_OWNER, project=project, mode=ReindexMode(mode.value), confirm=confirm
        )
        running_server(settings, config=config)
        if wait:
            jobs = _finished(catalogue, jobs)
    if as_json:
        say_json(
            [
                {
                    "job": job.id,
                    "project": job.project,
                    "state": job.state.value,
                    "error": job.error,
                    "result": job.result,
                }
                for job in jobs
            ]
        )
    else:
        for job in jobs:
            outcome = f"failed: {job.error}" if job.error else scan_words(job.result or {})
            say(f"{job.project}: {outcome if job.finished_at else f'job {job.id} is {job.state.value}'}")
    if any(job.error or job.state is JobState.FAILED for job in jobs):
        raise typer.Exit(ExitCode.FAILED)


def _finished(catalogue: Catalogue, jobs: list[Job]) -> list[Job]:
    from armillary_cli.report import Bars

    bars = Bars()
    done: dict[int, Job] = {}
    try:
        while len(done) < len(jobs):
            for asked in jobs:
                job = catalogue.jobs.get(asked.id)
                if job is None or job.finished_at is not None:
                    done[asked.id] = job or asked
                elif job.total:
                    bars.update(f"reading {job.project}", job.done, job.total)
            time.sleep(POLL_SECONDS if len(done) < len(jobs) else 0)
    finally:
        bars.close()
    return [done[job.id] for job in jobs]
