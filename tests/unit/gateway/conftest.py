from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from worlds import World, make_world


@pytest.fixture(autouse=True)
def plain_log() -> Iterator[None]:
    """Lines as the product logs them: structlog's own default draws tracebacks, which takes seconds."""
    structlog.configure(processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()])
    yield
    structlog.reset_defaults()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    yield made
    made.catalogue.close()
