"""Legs of a search: each has its own deadline, and none fails another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeAlias, TypeVar

from armillary_core.domain.errors import AppError
from armillary_core.domain.query import Hits, LegReport, LegUnavailable, NameHits
from armillary_core.usecases.together import together

T = TypeVar("T", Hits, NameHits)
log = logging.getLogger(__name__)


class LegOff:
    """A leg that this search does not use, and why when that may surprise."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "") -> None:
        self.reason = reason


FoundByWords: TypeAlias = Hits | LegUnavailable | LegOff
FoundByMeaning: TypeAlias = Hits | LegUnavailable | LegOff
FoundByName: TypeAlias = NameHits | LegUnavailable | LegOff


async def run_legs(
    words: Coroutine[Any, Any, FoundByWords],
    meaning: Coroutine[Any, Any, FoundByMeaning],
    names: Coroutine[Any, Any, FoundByName],
) -> tuple[FoundByWords, FoundByMeaning, FoundByName]:
    """All three at once."""
    return await together(words, meaning, names)


async def off(reason: str = "") -> LegOff:
    """A leg that does not run."""
    return LegOff(reason)


async def guarded(leg: Coroutine[Any, Any, T | LegUnavailable], *, seconds: float) -> T | LegUnavailable:
    """What the leg found, or why it could not in time; whatever it raises stays inside."""
    try:
        async with asyncio.timeout(seconds):
            return await leg
    except TimeoutError:
        return LegUnavailable(f"no answer within {seconds:g} s")
    except AppError as trouble:
        return LegUnavailable(trouble.message)
    except Exception:  # the outermost frame of a leg: the other legs still answer
        log.exception("leg.failed")
        return LegUnavailable("it failed; the log says more")


def report(name: str, found: Hits | NameHits | LegUnavailable | LegOff) -> LegReport:
    """What an answer says of one leg."""
    match found:
        case LegOff():
            return LegReport(name, "off", found.reason)
        case LegUnavailable(reason):
            return LegReport(name, "unavailable", reason)
        case _:
            return LegReport(name, "ok", hits=len(found.hits), took_ms=found.took_ms)
