"""What runs here, for status and reports of faults."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version

_PARTS = {
    "armillary": "armillary-core",
    "mcp": "mcp",
    "tantivy": "tantivy",
    "qdrant-edge": "qdrant-edge-py",
    "fastembed": "fastembed",
    "onnxruntime": "onnxruntime",
}


def versions() -> dict[str, str]:
    """Versions by name; what is not installed is left out."""
    found: dict[str, str] = {}
    for name, distribution in _PARTS.items():
        try:
            found[name] = version(distribution)
        except PackageNotFoundError:
            continue
    return {
        **found,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
    }
