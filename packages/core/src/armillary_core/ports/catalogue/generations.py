"""Which build of each engine's contents is current, and how much of it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from armillary_core.ports.catalogue.outbox import Engine


@dataclass(frozen=True, slots=True)
class Generation:
    id: int
    engine: Engine
    fingerprint: str  # schema, tokenizer version and model
    state: str  # building | current | old
    created_at: float
    expected: int = 0
    present: int = 0
    counted_at: float | None = None


class GenerationStore(Protocol):
    def current(self, engine: Engine) -> Generation | None: ...

    def all(self, engine: Engine) -> list[Generation]: ...

    def start(self, engine: Engine, fingerprint: str, *, at: float) -> Generation:
        """A generation in state `building`; the one that is building with this fingerprint is returned as it is."""

    def make_current(self, generation_id: int) -> None:
        """One row changes: search follows at its next question."""

    def set_counts(self, generation_id: int, *, expected: int, present: int, at: float) -> None: ...

    def remove(self, generation_id: int) -> None: ...
