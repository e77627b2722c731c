"""Tokens; only digests are stored."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Sequence
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.rows import json_list
from armillary_core.domain.errors import ConflictError
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Right, Token
from armillary_core.ports.catalogue.tokens import TokenStore

_TOKENS = "SELECT id, name, digest, rights, projects, created_at, expires_at, last_seen FROM token"
_SEEN_SECONDS = 60.0


class SqliteTokens(TokenStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def add(
        self,
        name: str,
        digest: str,
        *,
        rights: Iterable[Right],
        projects: Sequence[ProjectName] | None = None,
        expires_at: float | None = None,
        at: float,
    ) -> Token:
        with self._database.write(durable=True) as connection:
            if connection.execute("SELECT 1 FROM token WHERE name = ?", (name,)).fetchone():
                raise ConflictError(f"A token named {name!r} exists already. Choose another name or revoke it first.")
            connection.execute(
                "INSERT INTO token (name, digest, rights, projects, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    name,
                    digest,
                    json_list(sorted(right.value for right in rights)),
                    json_list(projects) if projects is not None else None,
                    at,
                    expires_at,
                ),
            )
            return _token_of(connection.execute(f"{_TOKENS} WHERE name = ?", (name,)).fetchone())

    @override
    def all(self) -> list[Token]:
        with self._database.read() as connection:
            return [_token_of(row) for row in connection.execute(f"{_TOKENS} ORDER BY name")]

    @override
    def by_digest(self, digest: str) -> Token | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_TOKENS} WHERE digest = ?", (digest,)).fetchone()
        if row is None or not hmac.compare_digest(row[2].encode("utf-8"), digest.encode("utf-8")):
            return None
        return _token_of(row)

    @override
    def revoke(self, name: str) -> bool:
        with self._database.write(durable=True) as connection:
            return connection.execute("DELETE FROM token WHERE name = ?", (name,)).rowcount == 1

    @override
    def seen(self, token_id: int, *, at: float) -> None:
        due = "id = ? AND (last_seen IS NULL OR last_seen <= ?)"
        with self._database.read() as connection:
            if (
                connection.execute(f"SELECT 1 FROM token WHERE {due}", (token_id, at - _SEEN_SECONDS)).fetchone()
                is None
            ):
                return
        with self._database.write() as connection:
            connection.execute(
                f"UPDATE token SET last_seen = ? WHERE {due}",
                (at, token_id, at - _SEEN_SECONDS),
            )

    @override
    def any_exist(self) -> bool:
        with self._database.read() as connection:
            return connection.execute("SELECT 1 FROM token LIMIT 1").fetchone() is not None


def _token_of(row: tuple[Any, ...]) -> Token:
    number, name, digest, rights, projects, created_at, expires_at, last_seen = row
    return Token(
        id=number,
        name=name,
        digest=digest,
        rights=frozenset(Right(right) for right in json.loads(rights)),
        projects=tuple(ProjectName(project) for project in json.loads(projects)) if projects is not None else None,
        created_at=created_at,
        expires_at=expires_at,
        last_seen=last_seen,
    )
