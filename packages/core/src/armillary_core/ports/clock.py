"""Time, so that tests own it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds that only grow."""
