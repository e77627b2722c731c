"""Which build of each engine's contents is current."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.domain.errors import NotFoundError
from armillary_core.ports.catalogue.generations import Generation, GenerationStore
from armillary_core.ports.catalogue.outbox import Engine

_GENERATIONS = "SELECT id, engine, fingerprint, state, created_at, expected, present, counted_at FROM generation"


class SqliteGenerations(GenerationStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def current(self, engine: Engine) -> Generation | None:
        with self._database.read() as connection:
            row = connection.execute(
                f"{_GENERATIONS} WHERE engine = ? AND state = 'current'", (engine.value,)
            ).fetchone()
        return _generation_of(row) if row else None

    @override
    def all(self, engine: Engine) -> list[Generation]:
        with self._database.read() as connection:
            rows = connection.execute(f"{_GENERATIONS} WHERE engine = ? ORDER BY id", (engine.value,))
            return [_generation_of(row) for row in rows]

    @override
    def start(self, engine: Engine, fingerprint: str, *, at: float) -> Generation:
        with self._database.write() as connection:
            building = f"{_GENERATIONS} WHERE engine = ? AND fingerprint = ? AND state = 'building' ORDER BY id DESC"
            row = connection.execute(building, (engine.value, fingerprint)).fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO generation (engine, fingerprint, state, created_at) VALUES (?, ?, 'building', ?)",
                    (engine.value, fingerprint, at),
                )
                row = connection.execute(building, (engine.value, fingerprint)).fetchone()
            return _generation_of(row)

    @override
    def make_current(self, generation_id: int) -> None:
        with self._database.write(durable=True) as connection:
            row = connection.execute("SELECT engine FROM generation WHERE id = ?", (generation_id,)).fetchone()
            if row is None:
                raise NotFoundError(f"No generation {generation_id}.")
            connection.execute(
                "UPDATE generation SET state = 'old' WHERE engine = ? AND state = 'current' AND id <> ?",
                (*row, generation_id),
            )
            connection.execute("UPDATE generation SET state = 'current' WHERE id = ?", (generation_id,))

    @override
    def set_counts(self, generation_id: int, *, expected: int, present: int, at: float) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE generation SET expected = ?, present = ?, counted_at = ? WHERE id = ?",
                (expected, present, at, generation_id),
            )

    @override
    def remove(self, generation_id: int) -> None:
        with self._database.write() as connection:
            connection.execute("DELETE FROM generation WHERE id = ?", (generation_id,))


def _generation_of(row: tuple[Any, ...]) -> Generation:
    return Generation(row[0], Engine(row[1]), *row[2:])
