"""Projects in the catalogue."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.codec import clean_or_none, pack_json, signed, unsigned
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.listing import diverged_from_one_of
from armillary_core.adapters.catalogue.sqlite.memo import RevisionMemo
from armillary_core.adapters.catalogue.sqlite.removal import short_batches, take_documents
from armillary_core.adapters.catalogue.sqlite.rows import NAMED_PROJECTS, json_list
from armillary_core.domain.errors import ProjectNotFoundError
from armillary_core.domain.project import (
    ListingWay,
    Project,
    ProjectCounts,
    ProjectName,
    ProjectSettings,
    ProjectState,
)
from armillary_core.ports.catalogue.projects import ProjectStore

_PROJECTS = (
    "SELECT id, name, root, private, state, state_reason, listing, device, settings, last_good_scan FROM project"
)

_FACETS = ("type", "locale", "version", "media_type", "language")


class SqliteProjects(ProjectStore):
    def __init__(self, database: Database) -> None:
        self._database = database
        self._facets: RevisionMemo[dict[str, dict[str, int]]] = RevisionMemo()

    @override
    def all(self) -> list[Project]:
        with self._database.read() as connection:
            return [_project_of(row) for row in connection.execute(f"{_PROJECTS} ORDER BY name")]

    @override
    def get(self, name: ProjectName) -> Project | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_PROJECTS} WHERE name = ?", (name,)).fetchone()
        return _project_of(row) if row else None

    @override
    def put(
        self, name: ProjectName, *, root: str, private: bool = False, settings: ProjectSettings | None = None
    ) -> Project:
        there = self.get(name)
        wanted = settings or (there.settings if there else ProjectSettings())
        if there is not None and (there.root, there.private, there.settings) == (root, private, wanted):
            return there
        with self._database.write(durable=True) as connection:
            connection.execute(
                "INSERT INTO project (name, root, private, settings) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
                "SET root = excluded.root, private = excluded.private, settings = excluded.settings",
                (name, os.fsencode(root), private, pack_json(asdict(wanted))),
            )
            return _project_of(connection.execute(f"{_PROJECTS} WHERE name = ?", (name,)).fetchone())

    @override
    def set_state(
        self,
        name: ProjectName,
        state: ProjectState,
        *,
        reason: str | None = None,
        listing: ListingWay | None = None,
        device: int | None = None,
        good_scan_at: float | None = None,
    ) -> None:
        with self._database.write() as connection:
            changed = connection.execute(
                "UPDATE project SET state = ?, state_reason = ?, listing = coalesce(?, listing), "
                "device = coalesce(?, device), last_good_scan = coalesce(?, last_good_scan) WHERE name = ?",
                (
                    state.value,
                    clean_or_none(reason),
                    listing.value if listing else None,
                    signed(device) if device is not None else None,
                    good_scan_at,
                    name,
                ),
            ).rowcount
            if not changed:
                raise ProjectNotFoundError(f"No project {name!r}.")

    @override
    def remove(self, name: ProjectName) -> None:
        number = self._id(name)
        if number is None:
            return
        # What a scan can bring back goes first, in short transactions; what it cannot goes with the project.
        while rows := self._unenriched(number):
            for batch in short_batches(rows):
                with self._database.write() as connection:
                    take_documents(connection, number, batch, keep_enriched=True)
        with self._database.write(durable=True) as connection:
            left = connection.execute("SELECT pk FROM document WHERE project = ?", (number,)).fetchall()
            take_documents(connection, number, [pk for (pk,) in left], keep_enriched=False)
            for table in ("term", "language"):
                connection.execute(f"DELETE FROM {table} WHERE project = ?", (number,))
            connection.execute("DELETE FROM project WHERE id = ?", (number,))
            connection.execute(
                "UPDATE job SET state = 'cancelled', finished_at = ? WHERE project = ? "
                "AND state IN ('waiting', 'running')",
                (self._database.now(), name),
            )

    def _unenriched(self, number: int) -> list[tuple[int, int]]:
        with self._database.read() as connection:
            return connection.execute(
                "SELECT pk, chunks FROM document WHERE project = ? AND enrichment = 0", (number,)
            ).fetchall()

    def _id(self, name: ProjectName) -> int | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT id FROM project WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    @override
    def counts(self, names: Sequence[ProjectName]) -> dict[ProjectName, ProjectCounts]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT p.name, count(d.pk), sum(d.present AND d.enrichment = 0), "
                "sum(d.present AND d.enrichment = 1), sum(d.present AND d.enrichment = 2), sum(NOT d.present), "
                f"sum(d.present AND d.diverged_from IS NOT NULL AND {diverged_from_one_of(NAMED_PROJECTS)}), "
                "sum(d.present AND d.state = 'failed'), "
                "(SELECT count(*) FROM skipped s WHERE s.project = p.id), sum(d.chapters), sum(d.chunks) "
                "FROM project p LEFT JOIN document d ON d.project = p.id "
                "WHERE p.name IN (SELECT value FROM json_each(?)) GROUP BY p.id ORDER BY p.name",
                (json_list(names), json_list(names)),
            )
            return {ProjectName(row[0]): ProjectCounts(*(value or 0 for value in row[1:])) for row in rows}

    @override
    def types(self, names: Sequence[ProjectName]) -> dict[str, int]:
        return dict(self._counted(names)["type"])

    @override
    def facets(self, names: Sequence[ProjectName]) -> dict[str, dict[str, int]]:
        counted = self._counted(names)
        return {column: dict(counted[column]) for column in ("locale", "version", "media_type", "language")}

    def _counted(self, names: Sequence[ProjectName]) -> dict[str, dict[str, int]]:
        with self._database.read() as connection:
            return self._facets.get(connection, tuple(names), lambda: _count_facets(connection, names))

    @override
    def languages(self, names: Sequence[ProjectName]) -> dict[str, int]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT language, sum(documents) FROM language WHERE project IN {NAMED_PROJECTS} "
                "GROUP BY language ORDER BY sum(documents) DESC, language",
                (json_list(names),),
            )
            return dict(rows.fetchall())


def _count_facets(connection: sqlite3.Connection, names: Sequence[ProjectName]) -> dict[str, dict[str, int]]:
    """Values with counts of every facet in one pass, the most frequent first."""
    totals: dict[str, Counter[str]] = {column: Counter() for column in _FACETS}
    for *values, count in connection.execute(
        f"SELECT {', '.join(_FACETS)}, count(*) FROM document WHERE present = 1 AND project IN {NAMED_PROJECTS} "
        f"GROUP BY {', '.join(_FACETS)}",
        (json_list(names),),
    ):
        for column, value in zip(_FACETS, values, strict=True):
            if value is not None:
                totals[column][value] += count
    return {
        column: dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
        for column, counter in totals.items()
    }


def _project_of(row: tuple[Any, ...]) -> Project:
    number, name, root, private, state, reason, listing, device, settings, last_good_scan = row
    return Project(
        id=number,
        name=ProjectName(name),
        root=os.fsdecode(root),
        private=bool(private),
        state=ProjectState(state),
        state_reason=reason,
        listing=ListingWay(listing) if listing else None,
        device=unsigned(device) if device is not None else None,
        settings=_settings_of(settings),
        last_good_scan=last_good_scan,
    )


def _settings_of(text: str) -> ProjectSettings:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in json.loads(text).items()
        if key in ProjectSettings.__dataclass_fields__
    }
    return ProjectSettings(**values)
