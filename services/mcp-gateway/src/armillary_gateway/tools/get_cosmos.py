"""get_cosmos: the way in."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.token import Caller, Right
from armillary_core.usecases.browse import Cosmos
from armillary_core.usecases.health import HealthReport
from armillary_gateway.answers import answer, columns, filled, fitting, size, table
from armillary_gateway.arguments import BLANK_IS_NONE
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.tool import READS, Tool

_PROJECT_COLUMNS = ("name", "state", "documents", "stale", "empty", "diverged", "desync", "failed", "skipped", "note")
_TYPE_COLUMNS = ("type", "documents", "description", "example")
_LISTED_TYPES = 25
_LISTED_VALUES = 15


class Table(TypedDict):
    columns: list[str]
    rows: list[list[Any]]


class CosmosAnswer(TypedDict):
    projects: Table
    total_projects: int
    types: NotRequired[Table]
    locales: NotRequired[list[str]]
    versions: NotRequired[list[str]]
    languages: NotRequired[list[str]]
    engines: list[str]
    caller: str
    rights: list[str]
    cursor: NotRequired[str]


async def get_cosmos(
    ctx: Context[Gateway],
    cursor: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=200, description="For the rest of the projects.")
    ] = None,
) -> Annotated[CallToolResult, CosmosAnswer]:
    """The way in: projects, document types, locales, versions, index health, what you may do."""
    gateway, caller = gateway_of(ctx), current_caller()
    place = gateway.cursors.open("get_cosmos", cursor, caller=caller.name, subject="")
    cosmos, health = await run_sync(_look, gateway, caller)
    generation = ",".join(project.name for project, _ in cosmos.projects)
    place.check(generation)
    head = _head(cosmos, health, first=place.offset == 0, gateway=gateway)
    rows = [_project_row(cosmos, health, index) for index in range(place.offset, len(cosmos.projects))]
    used = size(head)
    shown = fitting(
        ((" ".join(map(str, row)), row) for row in rows), cap=gateway.cap, text_used=used, structure_used=used
    )
    names, kept = columns(_PROJECT_COLUMNS, rows[:shown])
    done = place.offset + len(kept)
    more: str | None = None
    if done < len(cosmos.projects):
        more = gateway.cursors.seal(
            "get_cosmos", caller=caller.name, subject="", generation=generation, numbers=(done,)
        )
    return _rendered(names, kept, head, total=len(cosmos.projects), more=more)


def _look(gateway: Gateway, caller: Caller) -> tuple[Cosmos, HealthReport]:
    return gateway.browse.cosmos(caller), gateway.health.report(caller)


def _project_row(cosmos: Cosmos, health: HealthReport, index: int) -> list[Any]:
    project, counts = cosmos.projects[index]
    waiting = next((known.waiting for known in health.projects if known.name == project.name), 0)
    notes = [project.state_reason or "", f"{waiting} waiting" if waiting else "", "private" if project.private else ""]
    return [
        project.name,
        str(project.state),
        counts.documents,
        counts.stale or None,
        counts.empty or None,
        counts.diverged or None,
        counts.desync or None,
        counts.failed or None,
        counts.skipped or None,
        "; ".join(note for note in notes if note)[:200],
    ]


def _head(cosmos: Cosmos, health: HealthReport, *, first: bool, gateway: Gateway) -> dict[str, Any]:
    quoting = gateway.quoting
    types = [
        [quoting.line(found.name, 60), found.documents, quoting.line(found.description, 120), found.example or ""]
        for found in cosmos.types[:_LISTED_TYPES]
    ]
    type_names, type_rows = columns(_TYPE_COLUMNS, types)
    model = health.model
    engines = [
        f"{engine.engine}: {engine.state}" + (f", {engine.waiting} documents waiting" if engine.waiting else "")
        for engine in health.engines
    ]
    vectors = f", {model.present} of {model.expected} chunks" if model.missing else ""
    engines.append(f"meaning: {model.state}{vectors}" + (f" ({model.reason[:200]})" if model.reason else ""))
    return filled(
        types={"columns": type_names, "rows": type_rows} if type_rows and first else None,
        locales=_counted(cosmos.locales),
        versions=_counted(cosmos.versions),
        languages=_counted(cosmos.languages),
        engines=engines,
        caller=cosmos.caller.name,
        rights=sorted(cosmos.caller.rights),
    )


def _counted(values: dict[str, int]) -> list[str]:
    ordered = sorted(values, key=lambda value: (-values[value], value))
    listed = [f"{value[:60]} ({values[value]})" for value in ordered[:_LISTED_VALUES]]
    return [*listed, f"and {len(ordered) - len(listed)} more"] if len(ordered) > len(listed) else listed


def _rendered(
    names: list[str], rows: list[list[Any]], head: dict[str, Any], *, total: int, more: str | None
) -> CallToolResult:
    parts = [f"{len(rows)} of {total} projects", table(names, rows)] if rows else ["No project yet."]
    if "types" in head:
        parts += ["", table(head["types"]["columns"], head["types"]["rows"])]
    parts.append("")
    parts += [f"{name}: {', '.join(head[name])}" for name in ("locales", "versions", "languages") if name in head]
    parts.append(f"index: {'; '.join(head['engines'])}")
    parts.append(f"you: {head['caller']}, rights {', '.join(head['rights'])}")
    if more:
        parts.append(f"more projects: cursor={more}")
    structured = {"projects": {"columns": names, "rows": rows}, "total_projects": total, **head, **filled(cursor=more)}
    return answer("\n".join(parts), structured)


TOOL = Tool(get_cosmos, Right.READ, "What there is", READS)
