"""Who is calling: bearer tokens, and the owner on the same machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from starlette.types import Scope

from armillary_core.domain.errors import AccessDeniedError
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.usecases.tokens import PREFIX, Tokens

_CALLER: ContextVar[Caller] = ContextVar("caller")
_QUERY_NAMES = frozenset({"token", "access_token", "auth_token", "api_key", "apikey", "authorization", "bearer"})


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request has no caller: a 401 with this challenge."""

    challenge: str
    message: str


def current_caller() -> Caller:
    """The caller of the request that is being answered. Raises AccessDeniedError outside of one."""
    caller = _CALLER.get(None)
    if caller is None:
        raise AccessDeniedError("Nobody is signed in.")
    return caller


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Everything inside is done for this caller."""
    mark = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(mark)


class Authenticator:
    """Turns the Authorization header into a caller."""

    def __init__(self, tokens: Tokens, *, tokens_required: bool) -> None:
        """Without `tokens_required` (a loopback address) a request without any header is the owner's own."""
        self._tokens = tokens
        self._tokens_required = tokens_required

    async def __call__(self, scope: Scope) -> Caller | Refused:
        """A given but wrong token is refused everywhere, on loopback too."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given:
            if not self._tokens_required:
                return LOCAL_OWNER
            return Refused("Bearer", "A token is needed: send the header `Authorization: Bearer arm_…`.")
        if len(given) > 1:
            return Refused('Bearer error="invalid_request"', "The Authorization header was sent more than once.")
        scheme, _, secret = given[0].decode("latin-1").strip().partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            return Refused(
                'Bearer error="invalid_request"',
                "The Authorization header must read `Bearer arm_…`; no other scheme is known here.",
            )
        caller = await run_sync(self._tokens.authenticate, secret.strip())
        if caller is None:
            return Refused(
                'Bearer error="invalid_token"',
                "This token is unknown, expired or revoked. `armillary tokens create` makes a new one.",
            )
        return caller


def has_token_in_query(scope: Scope) -> bool:
    """Whether somebody put a token into the address, where logs and histories would keep it."""
    query: bytes = scope.get("query_string", b"")
    if not query:
        return False
    return any(
        name.lower() in _QUERY_NAMES or value.startswith(PREFIX)
        for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
    )
