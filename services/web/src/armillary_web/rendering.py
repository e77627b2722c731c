"""Templates: autoescaped, and an unknown name is an error."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).resolve().parent
STATIC_FOLDER = _HERE / "static"


class Rendering:
    """A page is a template and one finished view object: the template loops and prints, it does not decide."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["static_url"] = static_url

    def __call__(self, page: str, view: Any, *, status: int = 200) -> HTMLResponse:
        return HTMLResponse(self._environment.get_template(page).render(view=view), status_code=status)


def static_url(name: str) -> str:
    """The address of a static file, which changes with its content."""
    content = (STATIC_FOLDER / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"
