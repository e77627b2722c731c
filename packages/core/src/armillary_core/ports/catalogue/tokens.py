"""Tokens; only digests are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Right, Token


class TokenStore(Protocol):
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
        """Raises ConflictError when the name is taken."""

    def all(self) -> list[Token]: ...

    def by_digest(self, digest: str) -> Token | None:
        """Also an expired one: the caller decides. Compared in constant time."""

    def revoke(self, name: str) -> bool: ...

    def seen(self, token_id: int, *, at: float) -> None:
        """At most one write a minute and token."""

    def any_exist(self) -> bool: ...
