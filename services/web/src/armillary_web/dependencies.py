"""What routes receive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import Depends, HTTPException, Request

from armillary_core.domain.token import Caller
from armillary_core.usecases.health import Health
from armillary_web.rendering import Rendering


class RefusedName(Protocol):
    """A host name or origin that was refused."""

    @property
    def at(self) -> float: ...
    @property
    def header(self) -> str: ...
    @property
    def value(self) -> str: ...


class Refusals(Protocol):
    """What the host check refused."""

    @property
    def count(self) -> int: ...

    def recent(self) -> Sequence[RefusedName]:
        """Newest first."""


class NoRefusals:
    """Where no host check runs in this process."""

    count = 0

    def recent(self) -> Sequence[RefusedName]:
        return ()


def _caller(request: Request) -> Caller:
    caller = getattr(request.state, "caller", None)
    if not isinstance(caller, Caller):
        raise HTTPException(401)
    return caller


def _health(request: Request) -> Health:
    health: Health = request.app.state.health
    return health


def _refusals(request: Request) -> Refusals:
    refusals: Refusals = request.app.state.refusals
    return refusals


def _render(request: Request) -> Rendering:
    render: Rendering = request.app.state.render
    return render


CurrentCaller = Annotated[Caller, Depends(_caller)]
HealthUse = Annotated[Health, Depends(_health)]
RefusalsUse = Annotated[Refusals, Depends(_refusals)]
Render = Annotated[Rendering, Depends(_render)]
