"""The system's clock."""

from __future__ import annotations

import time

from typing_extensions import override

from armillary_core.ports.clock import Clock


class SystemClock(Clock):
    @override
    def now(self) -> float:
        return time.time()

    @override
    def monotonic(self) -> float:
        return time.monotonic()
