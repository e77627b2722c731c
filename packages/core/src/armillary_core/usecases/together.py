"""Run things at once that must all succeed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, overload

One = TypeVar("One")
Two = TypeVar("Two")
Three = TypeVar("Three")


@overload
async def together(one: Coroutine[Any, Any, One], two: Coroutine[Any, Any, Two], /) -> tuple[One, Two]: ...
@overload
async def together(
    one: Coroutine[Any, Any, One], two: Coroutine[Any, Any, Two], three: Coroutine[Any, Any, Three], /
) -> tuple[One, Two, Three]: ...
async def together(*things: Coroutine[Any, Any, Any]) -> tuple[Any, ...]:
    """Every result in order. The first failure cancels the others and is raised as it is, not in a group."""
    tasks: list[asyncio.Task[Any]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(thing) for thing in things]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return tuple(task.result() for task in tasks)
