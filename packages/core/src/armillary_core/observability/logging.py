"""Logs: structlog through the standard library's handler, so that every library's lines look alike."""

from __future__ import annotations

import io
import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor
from typing_extensions import override

_QUIET = ("uvicorn", "uvicorn.access", "uvicorn.error", "mcp", "httpx2", "watchfiles", "fastembed", "filelock")


class _StandardOutput(io.TextIOBase):
    """Whatever `sys.stdout` is at the moment of writing: a progress bar stands in for it while it is drawn."""

    @override
    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    @override
    def flush(self) -> None:
        sys.stdout.flush()

    @override
    def isatty(self) -> bool:
        return sys.stdout.isatty()


def configure_logging(*, level: str = "info", style: str = "auto", stream: TextIO | None = None) -> None:
    """Call once, in `cli.py`. `style` is auto, console or json; the stdio bridge passes standard error."""
    out = stream or _StandardOutput()
    readable = style == "console" or (style == "auto" and out.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if readable else "iso", utc=not readable),
        structlog.stdlib.ExtraAdder(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: list[Processor] = (
        [structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if readable
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _QUIET:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.WARNING if level != "debug" else logging.INFO)
