"""What every test shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Judged queries and awkward corpora kept beside the checkout; a test that needs them is skipped without them."""
    root = Path(__file__).resolve().parent.parent
    folder = Path(os.environ.get("ARMILLARY_TEST_SHARED", root.parent / "shared"))
    if not (folder / "eval").is_dir():
        message = f"SKIPPED: {folder} is not there; set ARMILLARY_TEST_SHARED to run this test."
        pytest.skip(message)
    return folder
