"""Hints that files changed; a rescan is the truth."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Protocol

from armillary_core.domain.project import ProjectName


class Watcher(Protocol):
    def changes(
        self, roots: Callable[[], Mapping[ProjectName, str]], *, stop: asyncio.Event
    ) -> AsyncGenerator[set[ProjectName], None]:
        """Projects whose folders changed, settled for a second; ends when `stop` is set. `roots` is asked again and
        again, so projects may come and go. Survives missing roots and exhausted watch limits; costs nothing idle."""

    def modes(self) -> dict[ProjectName, str]:
        """How each project is watched: "events", "polling" or "rescans only"."""
