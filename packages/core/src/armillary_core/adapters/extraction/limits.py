"""What one document may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    seconds: float = 30.0  # for one document, by the clock
    memory_bytes: int = 1 << 30  # of one worker; 0 = no limit
    file_bytes: int = 64 << 20
    text_chars: int = 32 << 20
    chapters: int = 200_000
    chunks: int = 200_000
    idle_seconds: float = 20.0  # a worker without work ends after this long
    niceness: int = 5
