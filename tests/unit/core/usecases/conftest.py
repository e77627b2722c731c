from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shelves import Shelf, open_shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = open_shelf(tmp_path)
    yield made
    made.catalogue.close()
