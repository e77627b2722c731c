"""Indexer, gateway and web as tasks of one process on one port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

import uvicorn
from typing_extensions import override

from armillary_cli.listen import url_of
from armillary_cli.memory import limit_heaps
from armillary_cli.model_fetch import fetch_in_background
from armillary_cli.owner import Owner, OwnerNote
from armillary_cli.preflight import Prepared
from armillary_cli.report import Reporter
from armillary_cli.web_server import http_app
from armillary_core.bootstrap.container import Core, open_core
from armillary_core.bootstrap.embedding import is_installed
from armillary_core.settings.model import Settings
from armillary_indexer.service import run_indexer

GRACE_SECONDS = 3  # for streams that clients keep open


class _Server(uvicorn.Server):
    """Signals are ours: one Ctrl-C ends everything in order."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.answers.set()

    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield


async def run_one_process(settings: Settings, prepared: Prepared, bound: socket.socket, note: OwnerNote) -> None:
    """Serve until a signal. Raises SettingsError or BackendError when something cannot be opened."""
    limit_heaps()
    stop = asyncio.Event()
    _stop_on_signals(stop)
    url = url_of(bound)
    reporter = Reporter(url=url, data=settings.data)
    async with open_core(settings) as core:
        server = _Server(_config(core))
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        await _started(server, serving)
        note.write(Owner(os.getpid(), url, version("armillary-cli"), time.time()))
        reporter.listening(prepared.projects, prepared.added)
        indexing = asyncio.create_task(run_indexer(core, stop=stop))
        following = asyncio.create_task(reporter.follow(core, stop))
        fetching = asyncio.create_task(_bring_model(core, reporter, stop))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({serving, indexing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.set()
            server.should_exit = True
            ended = await asyncio.gather(serving, indexing, following, fetching, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, Exception):
            raise outcome


async def _started(server: _Server, serving: asyncio.Task[None]) -> None:
    answers = asyncio.create_task(server.answers.wait())
    await asyncio.wait({answers, serving}, return_when=asyncio.FIRST_COMPLETED)
    answers.cancel()
    if serving.done():
        await serving
        raise RuntimeError("the web server ended before it began")


async def _bring_model(core: Core, reporter: Reporter, stop: asyncio.Event) -> None:
    settings = core.settings
    was_there = is_installed(settings)
    reason = await fetch_in_background(settings, stop=stop, progress=reporter.model_progress)
    if not stop.is_set():
        reporter.model_settled(reason, fetched=not was_there and is_installed(settings))
        await core.embedder.query("ready")  # loads it now, so that the first question does not wait for that


def _config(core: Core) -> uvicorn.Config:
    return uvicorn.Config(
        http_app(core),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        ws="none",
    )


def _stop_on_signals(stop: asyncio.Event) -> None:
    """The first signal asks, the second one does not: the catalogue is safe either way."""

    def ask() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask)
