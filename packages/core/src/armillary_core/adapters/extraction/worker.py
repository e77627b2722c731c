"""A worker process: `python -m armillary_core.adapters.extraction.worker`, spoken to over its standard streams."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from typing import BinaryIO, Final, cast

from armillary_core.adapters.extraction.documents import DocumentReader, failed_without_reading
from armillary_core.adapters.extraction.frames import HEADER, Batch, Check, Hello, Results, pack, unpack
from armillary_core.adapters.extraction.limits import ExtractionLimits
from armillary_core.domain.ingest import Indexed
from armillary_core.ports.extraction import Extracted
from armillary_core.ports.extractor import Extractor

_FRAME_BYTES: Final = 1 << 20  # about: results are sent on when they hold this much text
_FRAME_SECONDS: Final = 0.5
_ROWS: Final = 64
_GROWN: Final = 3  # a worker that needed a third of its memory limit is replaced by a fresh one


def load_extractors(name: str) -> Mapping[str, Extractor]:
    """What `module:NAME` holds."""
    module, _, attribute = name.partition(":")
    return cast(Mapping[str, Extractor], getattr(importlib.import_module(module), attribute))


def unloadable(extractors: Mapping[str, Extractor]) -> tuple[str, ...]:
    """A line for each media type whose library cannot be imported."""
    lines = []
    for media_type, extractor in sorted(extractors.items()):
        for library in extractor.requires:
            try:
                importlib.import_module(library)
            except Exception as exc:  # whatever a broken library raises, it cannot be loaded
                lines.append(f"{media_type}: {library} cannot be loaded ({type(exc).__name__}: {exc})")
    return tuple(lines)


class _Worker:
    def __init__(self, requests: BinaryIO, answers: BinaryIO, hello: Hello) -> None:
        self._requests = requests
        self._answers = answers
        self._limits = hello.limits
        self._extractors = load_extractors(hello.extractors)
        self._reader = DocumentReader(self._extractors, hello.limits)

    def serve(self) -> None:
        while (message := receive(self._requests)) is not None:
            if isinstance(message, Check):
                self._send(unloadable(self._extractors))
            elif isinstance(message, Batch) and self._run(message):
                return

    def _run(self, batch: Batch) -> bool:
        """Whether the worker should end after this batch."""
        rows: list[Extracted] = []
        size, sent = 0, time.monotonic()
        leaving = False
        for task in batch.tasks:
            if rows and (len(rows) >= _ROWS or size >= _FRAME_BYTES or time.monotonic() - sent > _FRAME_SECONDS):
                self._send(Results(rows, done=False))
                rows, size, sent = [], 0, time.monotonic()
            # When the pool is gone nobody is left to kill a document that never ends.
            signal.setitimer(signal.ITIMER_REAL, self._limits.seconds * 2 + 5)
            try:
                row = self._reader.read(task)
            except MemoryError:
                leaving = True
                row = failed_without_reading(task, f"needs more memory than allowed ({_mib(self._limits)})")
            rows.append(row)
            size += len(row.outcome.text.text) * 3 if isinstance(row.outcome, Indexed) else 1000
        signal.setitimer(signal.ITIMER_REAL, 0)
        leaving = leaving or _has_grown(self._limits)
        try:
            self._send(Results(rows, done=True, leaving=leaving))
        except MemoryError:
            small = [failed_without_reading(row.task, "needs more memory than allowed") for row in rows]
            self._send(Results(small, done=True, leaving=True))
            return True
        return leaving

    def _send(self, message: object) -> None:
        self._answers.write(pack(message))
        self._answers.flush()


def receive(stream: BinaryIO) -> object | None:
    """The next message; None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return unpack(stream.read(HEADER.unpack(header)[0]))


def _mib(limits: ExtractionLimits) -> str:
    return f"{limits.memory_bytes >> 20} MiB"


def _has_grown(limits: ExtractionLimits) -> bool:
    if not limits.memory_bytes:
        return False
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit * _GROWN > limits.memory_bytes


def _limit(limits: ExtractionLimits) -> None:
    with contextlib.suppress(OSError):
        os.nice(limits.niceness)
    if limits.memory_bytes:
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            soft = limits.memory_bytes if hard == resource.RLIM_INFINITY else min(limits.memory_bytes, hard)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Serve batches until the pool hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pool, which ends its workers
    # Whatever a library prints must not get between the messages.
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    gc.set_threshold(50_000, 20, 50)
    hello = receive(requests)
    if not isinstance(hello, Hello):
        return
    _limit(hello.limits)
    with contextlib.suppress(BrokenPipeError):
        _Worker(requests, answers, hello).serve()


if __name__ == "__main__":
    main()
