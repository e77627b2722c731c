"""Where an engine keeps its contents, and what happens when these are missing, outdated or of another generation."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

import structlog

from armillary_core.domain.errors import IndexOutdatedError
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.clock import Clock

log = structlog.get_logger(__name__)


class Countable(Protocol):
    async def count(self) -> int: ...


Index = TypeVar("Index", bound=Countable)


async def open_engine(
    engine: Engine,
    fingerprint: str,
    open_index: Callable[[Path], Index],
    *,
    folder: Path,
    catalogue: Catalogue,
    clock: Clock,
) -> Index:
    """The index of the generation with this fingerprint. Whatever it lacks is told to it again through the outbox."""
    home = folder / f"{engine.value}-{fingerprint}"
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    try:
        index = await asyncio.to_thread(open_index, home)
    except IndexOutdatedError as outdated:
        log.warning("engine.discarded", engine=engine.value, reason=outdated.message)
        await asyncio.to_thread(shutil.rmtree, home)
        await asyncio.to_thread(home.mkdir, parents=True)
        index = await asyncio.to_thread(open_index, home)
    is_known = await asyncio.to_thread(_make_current, engine, fingerprint, catalogue, clock)
    if not is_known or await index.count() == 0:
        await asyncio.to_thread(catalogue.outbox.add_all, engine)
    await asyncio.to_thread(_remove_others, engine, home)
    return index


def _make_current(engine: Engine, fingerprint: str, catalogue: Catalogue, clock: Clock) -> bool:
    """Name this generation the current one; whether it was already."""
    generations = catalogue.generations
    current = generations.current(engine)
    if current is not None and current.fingerprint == fingerprint:
        return True
    made = generations.start(engine, fingerprint, at=clock.now())
    generations.make_current(made.id)
    for other in generations.all(engine):
        if other.id != made.id:
            generations.remove(other.id)
    return False


def _remove_others(engine: Engine, home: Path) -> None:
    for other in home.parent.glob(f"{engine.value}-*"):
        if other != home:
            shutil.rmtree(other, ignore_errors=True)
