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


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The folder of embedding models with the default one in it: ARMILLARY_TEST_MODELS, the user's own data folder, or
    a cache that is filled once."""
    from armillary_core.adapters.embedding.fetch import fetch_model
    from armillary_core.adapters.embedding.installation import Installed, check_model
    from armillary_core.adapters.embedding.registry import DEFAULT_MODEL, MODELS
    from armillary_core.domain.errors import AppError

    spec = MODELS[DEFAULT_MODEL]
    cache = Path(os.environ.get("ARMILLARY_TEST_MODELS", "~/.cache/armillary-models")).expanduser()
    for folder in (cache, Path("~/.local/share/armillary/models").expanduser()):
        if isinstance(check_model(spec, folder), Installed):
            return folder
    try:
        fetch_model(spec, cache)
    except AppError as failed:
        message = f"SKIPPED: the model {spec.id} cannot be had: {failed.message}"
        pytest.skip(message)
    return cache
