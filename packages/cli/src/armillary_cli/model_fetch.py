"""Bring the embedding model in the background; nothing waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from armillary_core.bootstrap.embedding import fetch, is_installed
from armillary_core.domain.errors import AppError
from armillary_core.settings.model import FastembedEmbedding, Settings


class _StoppedError(Exception):
    """The process is ending; half a download is kept for the next time."""


async def fetch_in_background(
    settings: Settings, *, stop: asyncio.Event, progress: Callable[[int, int], None]
) -> str | None:
    """None when the model is there at the end, else the reason why not. Returns at once when `stop` is set."""
    embedding = settings.embedding
    if not isinstance(embedding, FastembedEmbedding) or not embedding.fetch or is_installed(settings):
        return None
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[str | None] = loop.create_future()

    def tell(done: int, total: int) -> None:
        if stop.is_set():
            raise _StoppedError
        loop.call_soon_threadsafe(progress, done, total)

    def settle(reason: str | None) -> None:
        if not outcome.done():
            outcome.set_result(reason)

    def work() -> None:
        reason: str | None = None
        try:
            fetch(settings, embedding.model, tell)
        except AppError as failed:
            reason = failed.message
        except _StoppedError:
            return
        except Exception as failed:
            reason = f"unexpected {type(failed).__name__}: {failed}"
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, reason)

    # a daemon: a download that hangs in the network must not hold up Ctrl-C
    threading.Thread(target=work, name="model-fetch", daemon=True).start()
    stopped = asyncio.create_task(stop.wait())
    either: set[asyncio.Future[Any]] = {outcome, stopped}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    return outcome.result() if outcome.done() else None
