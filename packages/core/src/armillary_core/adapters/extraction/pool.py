"""The pool of worker processes: started when there is work, replaced when one dies, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from typing_extensions import override

from armillary_core.adapters.extraction.documents import failed_without_reading
from armillary_core.adapters.extraction.frames import HEADER, Batch, Check, Hello, Results, pack, unpack
from armillary_core.adapters.extraction.limits import ExtractionLimits
from armillary_core.adapters.extraction.worker import load_extractors
from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.ports.extraction import Extracted, Extraction, ExtractionTask
from armillary_core.text.chunking import CHUNKING_VERSION
from armillary_core.text.tokens import TOKENIZER_VERSION

__all__ = ["ExtractionLimits", "WorkerPool"]

PIPELINE_VERSION: Final = 1  # of everything between an extractor and the finished row

_BATCH: Final = 64
_WAITING: Final = 4  # result batches that wait for their reader before workers pause


class _WorkerGoneError(Exception):
    """The process ended, or was ended for taking too long, with tasks unanswered."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Process:
    """One worker process and the two pipes to it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    @classmethod
    async def start(cls, hello: Hello) -> _Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "armillary_core.adapters.extraction.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        worker = cls(process)
        await worker.send(hello)
        return worker

    async def send(self, message: object) -> None:
        self._stdin.write(pack(message))
        with contextlib.suppress(ConnectionError):
            await self._stdin.drain()

    async def receive(self, seconds: float) -> object:
        """Raises _WorkerGoneError."""
        try:
            async with asyncio.timeout(seconds):
                header = await self._stdout.readexactly(HEADER.size)
                return unpack(await self._stdout.readexactly(HEADER.unpack(header)[0]))
        except TimeoutError:
            raise _WorkerGoneError(f"took longer than {seconds:g} s") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await self._process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise _WorkerGoneError(f"the reader of this format crashed ({how})") from None

    async def end(self) -> None:
        """At once and for good."""
        self._stdin.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        # A big answer that nobody read keeps the pipe open, and with it the wait: read it away. (RuntimeError: its
        # reader is still there and does that.)
        with contextlib.suppress(RuntimeError):
            while await self._stdout.read(1 << 20):
                pass
        await self._process.wait()
        with contextlib.suppress(ConnectionError):
            await self._stdin.wait_closed()


class WorkerPool(Extraction):
    """At most `workers` documents at once, each in a process that can be killed without harm."""

    def __init__(
        self,
        workers: int,
        limits: ExtractionLimits | None = None,
        extractors: str = "armillary_core.bootstrap.formats:EXTRACTORS",
    ) -> None:
        self._limits = limits or ExtractionLimits()
        self._hello = Hello(self._limits, extractors)
        self._workers = max(1, workers)
        self._free = asyncio.Semaphore(self._workers)
        self._idle: list[_Process] = []
        self._working: set[_Process] = set()
        self._reaping: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False
        self.fingerprint = _fingerprint(extractors)

    @override
    async def run(self, tasks: Sequence[ExtractionTask]) -> AsyncGenerator[list[Extracted], None]:
        if not tasks:
            return
        size = min(_BATCH, -(-len(tasks) // (self._workers * 4)))
        waiting = deque(tuple(tasks[at : at + size]) for at in range(0, len(tasks), size))
        results: asyncio.Queue[list[Extracted]] = asyncio.Queue(_WAITING)
        count = min(self._workers, len(waiting))
        runners = [asyncio.create_task(self._work(waiting, results)) for _ in range(count)]
        missing = len(tasks)
        try:
            while missing:
                rows = await _next(results, runners)
                missing -= len(rows)
                yield rows
        finally:
            for runner in runners:
                runner.cancel()
            await asyncio.gather(*runners, return_exceptions=True)

    @override
    async def check(self) -> tuple[str, ...]:
        async with self._free:
            process = await self._take()
            try:
                await process.send(Check())
                answer = await process.receive(max(self._limits.seconds, 30))
            except _WorkerGoneError as exc:
                return (f"no format can be read: {exc.reason}",)
            finally:
                await self._drop(process)  # it holds every library now
        return answer if isinstance(answer, tuple) else ()

    @override
    async def close(self) -> None:
        self._closed = True
        if self._reaping is not None:
            self._reaping.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        for process in [*self._idle, *self._working]:
            await process.end()
        self._idle.clear()
        self._working.clear()

    async def _work(self, waiting: deque[tuple[ExtractionTask, ...]], results: asyncio.Queue[list[Extracted]]) -> None:
        while waiting:
            batch = waiting.popleft()
            async with self._free:
                left = await self._try(batch, results)
                if left is None:
                    continue
                reason, unanswered = left
                # Which of them did it is not known: each is tried once more by itself.
                for task in unanswered:
                    alone = await self._try((task,), results)
                    if alone is not None and alone[1]:
                        await results.put([failed_without_reading(task, alone[0] or reason)])

    async def _try(
        self, batch: tuple[ExtractionTask, ...], results: asyncio.Queue[list[Extracted]]
    ) -> tuple[str, tuple[ExtractionTask, ...]] | None:
        """None when all were answered, else why not and which."""
        answered = 0
        process = await self._take()
        try:
            await process.send(Batch(batch))
            while True:
                answer = await process.receive(self._limits.seconds)
                assert isinstance(answer, Results)
                answered += len(answer.rows)
                if answer.done and not answer.leaving:
                    self._give_back(process)
                elif answer.done:
                    await self._drop(process)
                if answer.rows:
                    await results.put(answer.rows)
                if answer.done:
                    return None
        except _WorkerGoneError as exc:
            await self._drop(process)
            return exc.reason, batch[answered:]
        except BaseException:
            await self._drop(process)
            raise

    # --- processes ---

    async def _take(self) -> _Process:
        if self._closed:
            raise BackendUnavailableError("Extraction has been shut down.")
        if self._reaping is not None:
            self._reaping.cancel()
            self._reaping = None
        process = self._idle.pop() if self._idle else await _Process.start(self._hello)
        self._working.add(process)
        return process

    def _give_back(self, process: _Process) -> None:
        self._working.discard(process)
        self._idle.append(process)
        if not self._working and not self._closed:
            self._reaping = asyncio.create_task(self._reap())
            self._background.add(self._reaping)
            self._reaping.add_done_callback(self._background.discard)

    async def _drop(self, process: _Process) -> None:
        if process in self._working:
            self._working.discard(process)
            ending = asyncio.create_task(process.end())
            self._background.add(ending)
            ending.add_done_callback(self._background.discard)
            await asyncio.shield(ending)  # whoever stops waiting, the process is ended whole

    async def _reap(self) -> None:
        await asyncio.sleep(self._limits.idle_seconds)
        self._reaping = None  # from here on nobody cancels it
        while self._idle:
            await self._idle.pop().end()


async def _next(results: asyncio.Queue[list[Extracted]], runners: Sequence[asyncio.Task[None]]) -> list[Extracted]:
    """The next rows; a runner's own failure is raised rather than waited for."""
    if not results.empty():
        return results.get_nowait()
    getting = asyncio.ensure_future(results.get())
    try:
        while True:
            pending = [runner for runner in runners if not runner.done()]
            await asyncio.wait([getting, *pending], return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
            for runner in runners:
                if runner.done() and not runner.cancelled() and (failure := runner.exception()) is not None:
                    raise failure
    finally:
        getting.cancel()


def _fingerprint(extractors: str) -> str:
    """Changes whenever a known document would be extracted, cut or tokenised differently."""
    listed = sorted((name, type(one).__name__, one.version) for name, one in load_extractors(extractors).items())
    text = repr((PIPELINE_VERSION, CHUNKING_VERSION, TOKENIZER_VERSION, listed))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
