"""How much of what the catalogue expects the engines hold, for one answer."""

from __future__ import annotations

from collections.abc import Sequence

from armillary_core.domain.passage import Completeness
from armillary_core.domain.project import Project, ProjectState
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import ModelFacts
from armillary_core.usecases.search_policy import SearchPolicy

_HELD = (ProjectState.HELD, ProjectState.UNREACHABLE)
_MOST_REMEMBERED = 100


class Coverage:
    """Counts per set of projects. While much is waiting, an answer may be a second old; it is never another set's."""

    def __init__(self, catalogue: Catalogue, clock: Clock, policy: SearchPolicy) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._policy = policy
        self._remembered: dict[tuple[str, ...], tuple[float, Completeness]] = {}

    def of(self, projects: Sequence[Project], *, documents: int, model: ModelFacts | None) -> Completeness:
        """`words` is reckoned from how many documents wait; the others are counted in the catalogue."""
        names = [project.name for project in projects]
        key = (*names, model.fingerprint if model else "")
        now = self._clock.monotonic()
        remembered = self._remembered.get(key)
        if remembered is not None and 0 <= now - remembered[0] < self._policy.count_seconds:
            return remembered[1]
        waiting = self._catalogue.outbox.count_by_project(Engine.CHUNKS)
        pending = min(sum(waiting.get(name, 0) for name in names), documents)
        expected = self._catalogue.vectors.expected(names)
        present = self._catalogue.vectors.present(model.fingerprint, names) if model is not None else 0
        words = expected if not pending else expected * (documents - pending) // max(documents, 1)
        counted = Completeness(
            documents=documents,
            chunks_expected=expected,
            words=words,
            meaning=min(present, words),
            pending_documents=pending,
            held=tuple(project.name for project in projects if project.state in _HELD),
        )
        if pending > self._policy.much_waiting:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = (now, counted)
        return counted

    def generation(self) -> str:
        """Which build of each engine answers; changes when one is rebuilt."""
        current = [self._catalogue.generations.current(engine) for engine in Engine]
        return ".".join(str(found.id) if found is not None else "0" for found in current)
