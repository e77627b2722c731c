"""Tokens: made here, shown once, kept as a digest only."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from armillary_core.domain.errors import AccessDeniedError, InvalidRequestError, NotFoundError
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Caller, Right, Token
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.clock import Clock
from armillary_core.usecases.resolve import Resolve, shown

PREFIX = "arm_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@ -]{0,63}")
_LONGEST_SECRET = 512
_SEEN_EVERY_SECONDS = 60
_IMPLIED = {
    Right.READ: {Right.READ},
    Right.ENRICH: {Right.READ, Right.ENRICH},
    Right.MANAGE: {Right.READ, Right.ENRICH, Right.MANAGE},
}


@dataclass(frozen=True, slots=True)
class NewToken:
    token: Token
    secret: str  # shown once, stored nowhere


class Tokens:
    """Who may call. Everything but `authenticate` needs the right to manage."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._resolve = Resolve(catalogue)

    def create(
        self,
        name: str,
        caller: Caller,
        *,
        rights: Iterable[Right] = (Right.READ,),
        projects: Sequence[str] | None = None,
        days: float | None = None,
    ) -> NewToken:
        """A new token; `enrich` implies `read`, `manage` implies both; no projects = all shared ones; no days = no
        expiry. Raises InvalidRequestError, ConflictError when the name is taken, ProjectNotFoundError."""
        _require_manage(caller)
        name = name.strip()
        if not _NAME.fullmatch(name):
            raise InvalidRequestError(
                f'Token name "{shown(name, 64)}" is not allowed. Use letters, digits, spaces and . _ @ -, '
                "at most 64, beginning with a letter or digit."
            )
        granted = frozenset(right for asked in rights for right in _IMPLIED[asked])
        if not granted:
            raise InvalidRequestError("A token needs at least one right: read, enrich or manage.")
        if days is not None and not 0 < days <= 36_500:
            raise InvalidRequestError("days must be above 0 and at most 36500.")
        named: tuple[ProjectName, ...] | None = None
        if projects is not None:
            named = tuple(dict.fromkeys(self._resolve.project(project, caller).name for project in projects))
            if not named:
                raise InvalidRequestError("projects is empty: the token could see nothing. Leave it out for all.")
        elif caller.projects is not None:
            named = caller.projects
        secret = PREFIX + secrets.token_urlsafe(32)
        now = self._clock.now()
        token = self._catalogue.tokens.add(
            name,
            digest(secret),
            rights=sorted(granted),
            projects=named,
            expires_at=None if days is None else now + days * 86_400,
            at=now,
        )
        return NewToken(token, secret)

    def all(self, caller: Caller) -> list[Token]:
        """Every token, without its secret."""
        _require_manage(caller)
        return self._catalogue.tokens.all()

    def revoke(self, name: str, caller: Caller) -> None:
        """From now on the token is refused. Raises NotFoundError."""
        _require_manage(caller)
        if not self._catalogue.tokens.revoke(name):
            known = ", ".join(token.name for token in self._catalogue.tokens.all()[:20]) or "none"
            raise NotFoundError(f'No token "{shown(name, 64)}". Tokens: {known}.')

    def authenticate(self, secret: str) -> Caller | None:
        """The caller behind a secret; None when it is unknown, revoked or expired."""
        if not secret or len(secret) > _LONGEST_SECRET:
            return None
        presented = digest(secret)
        token = self._catalogue.tokens.by_digest(presented)
        if token is None or not hmac.compare_digest(token.digest, presented):
            return None
        now = self._clock.now()
        if token.expires_at is not None and token.expires_at <= now:
            return None
        if token.last_seen is None or now - token.last_seen >= _SEEN_EVERY_SECONDS:
            self._catalogue.tokens.seen(token.id, at=now)
        return Caller(name=token.name, rights=token.rights, projects=token.projects)


def digest(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _require_manage(caller: Caller) -> None:
    if not caller.may(Right.MANAGE):
        raise AccessDeniedError("Tokens need the right to manage, which this token does not have.")
