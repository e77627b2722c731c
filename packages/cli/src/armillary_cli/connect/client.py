"""One agent program: which file it reads, and what stands in it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SERVER = "armillary"  # the name under which agents see it
TOKEN_VARIABLE = "ARMILLARY_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the server is, from the client's machine."""

    url: str  # with /mcp
    needs_token: bool = False
    command: str = "armillary"  # for clients that start a bridge
    data: Path | None = None  # a data folder other than the usual one


def applications_folder() -> Path:
    """Where desktop programs of this user keep their configuration."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


class Client(Protocol):
    name: str
    title: str

    def file(self) -> Path:
        """The user's own configuration of this client."""

    def snippet(self, endpoint: Endpoint) -> str:
        """What stands in that file for this server, as text to paste."""

    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        """What the person does besides, a line each."""

    def write(self, endpoint: Endpoint) -> Path | None:
        """Merge it into the file and leave every other entry as it is; the backup that was made, None when there
        was no file or it says so already. Raises SettingsError when the file cannot be read as what it should be."""
