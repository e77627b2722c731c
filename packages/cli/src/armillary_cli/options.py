"""Options that many commands share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from armillary_core.settings.model import Settings

DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Data folder [default: ~/.local/share/armillary].")
]
ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Configuration file (YAML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def read_settings(
    data: Path | None, config: Path | None, *, bind: str | None = None, port: int | None = None
) -> Settings:
    """Settings with these arguments on top. Raises SettingsError."""
    from armillary_core.settings.load import load_settings

    return load_settings({"data": data, "bind": bind, "port": port}, config=config)
