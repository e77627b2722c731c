"""How things stand: projects, engines, the model, jobs and disk, as far as a caller may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from armillary_core.domain.document import DocumentId
from armillary_core.domain.job import Job
from armillary_core.domain.project import ListingWay, Project, ProjectCounts, ProjectName, ProjectState
from armillary_core.domain.token import Caller, Right
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import Embedder, ModelFacts
from armillary_core.usecases.embed import vector_languages

FAILED_SHOWN = 50
JOBS_SHOWN = 20
LEAST_FREE_BYTES = 64 * 1024**2  # below this, indexing waits: what is left is for cards, which cannot be made again


@dataclass(frozen=True, slots=True)
class FailedDocument:
    id: DocumentId
    reason: str


@dataclass(frozen=True, slots=True)
class ProjectHealth:
    name: ProjectName
    state: ProjectState
    counts: ProjectCounts
    private: bool = False
    root: str = ""  # only for callers who may manage
    reason: str | None = None  # why it is held or unreachable
    last_good_scan: float | None = None  # seconds since the epoch
    listing: ListingWay | None = None
    watch: str = ""  # "events", "polling", "rescans only"; "" where no indexer runs in this process
    waiting: int = 0  # documents an engine has not been told about yet
    skipped: Mapping[str, int] = field(default_factory=dict)  # rule → paths
    failed: tuple[FailedDocument, ...] = ()  # the first of them


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """`expected` and `present` are None until counted, and for callers who do not see every project."""

    engine: Engine
    state: str  # ok | catching up | incomplete | not counted
    expected: int | None = None
    present: int | None = None
    counted_at: float | None = None
    waiting: int = 0
    given_up: tuple[FailedDocument, ...] = ()  # documents the engine refused again and again


@dataclass(frozen=True, slots=True)
class ModelHealth:
    state: str  # ready | unavailable
    name: str = ""
    reason: str = ""
    expected: int = 0  # chunks that should have a vector
    present: int = 0
    missing: int = 0  # still to be made; texts that this model cannot read are not among them


@dataclass(frozen=True, slots=True)
class DiskUse:
    catalogue_bytes: int = 0
    engines_bytes: int = 0
    models_bytes: int = 0
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class HealthReport:
    at: float
    versions: Mapping[str, str]
    projects: tuple[ProjectHealth, ...]
    engines: tuple[EngineHealth, ...]
    model: ModelHealth
    active_jobs: tuple[Job, ...] = ()
    recent_jobs: tuple[Job, ...] = ()
    disk: DiskUse | None = None  # only for callers who may manage
    problems: tuple[str, ...] = ()  # one plain line each; empty = all is well. A missing model is a state, no problem

    @property
    def is_well(self) -> bool:
        return not self.problems


class Health:
    """Reads the catalogue only: what the engines hold is counted by the indexer and kept there."""

    def __init__(
        self,
        catalogue: Catalogue,
        clock: Clock,
        embedder: Embedder,
        *,
        versions: Mapping[str, str] | None = None,
        watch_modes: Callable[[], Mapping[ProjectName, str]] | None = None,
        measure_disk: Callable[[], DiskUse] | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._embedder = embedder
        self._versions = dict(versions or {})
        self._watch_modes = watch_modes or dict
        self._measure_disk = measure_disk

    def report(self, caller: Caller) -> HealthReport:
        """Everything this caller may know; nothing of a project it does not see, not even in a sum."""
        everything = self._catalogue.projects.all()
        visible = caller.visible(everything)
        names = frozenset(project.name for project in visible)
        manages = caller.may(Right.MANAGE)
        projects = self._projects(visible, manages=manages)
        engines = tuple(self._engine(engine, names, sees_all=len(visible) == len(everything)) for engine in Engine)
        model = self._model(tuple(names))
        disk = self._measure_disk() if manages and self._measure_disk else None
        return HealthReport(
            at=self._clock.now(),
            versions=self._versions,
            projects=projects,
            engines=engines,
            model=model,
            active_jobs=tuple(job for job in self._catalogue.jobs.active() if job.project in names),
            recent_jobs=tuple(job for job in self._catalogue.jobs.recent(limit=JOBS_SHOWN) if job.project in names),
            disk=disk,
            problems=tuple(_problems(projects, engines, disk)),
        )

    def _projects(self, visible: list[Project], *, manages: bool) -> tuple[ProjectHealth, ...]:
        counts = self._catalogue.projects.counts([project.name for project in visible])
        waiting = {engine: self._catalogue.outbox.count_by_project(engine) for engine in Engine}
        modes = self._watch_modes()
        documents = self._catalogue.documents
        return tuple(
            ProjectHealth(
                name=project.name,
                state=project.state,
                counts=counts.get(project.name, ProjectCounts()),
                private=project.private,
                root=project.root if manages else "",
                reason=project.state_reason,
                last_good_scan=project.last_good_scan,
                listing=project.listing,
                watch=modes.get(project.name, ""),
                waiting=max(found.get(project.name, 0) for found in waiting.values()),
                skipped=documents.skipped_counts(project.name),
                failed=tuple(
                    FailedDocument(document.id, document.reason or "unknown")
                    for document in documents.failed(project.name, limit=FAILED_SHOWN)
                ),
            )
            for project in visible
        )

    def _engine(self, engine: Engine, names: frozenset[ProjectName], *, sees_all: bool) -> EngineHealth:
        outbox = self._catalogue.outbox
        generation = self._catalogue.generations.current(engine)
        waiting = (
            outbox.count(engine)
            if sees_all
            else sum(count for name, count in outbox.count_by_project(engine).items() if name in names)
        )
        errors = dict(outbox.poisoned(engine))
        refused = self._catalogue.documents.by_pk(errors) if errors else {}
        counted = generation is not None and generation.counted_at is not None
        if waiting:
            state = "catching up"
        elif not counted or generation is None:
            state = "not counted"
        else:
            state = "ok" if generation.present == generation.expected else "incomplete"
        shown = generation if counted and sees_all else None
        return EngineHealth(
            engine=engine,
            state=state,
            expected=shown.expected if shown else None,
            present=shown.present if shown else None,
            counted_at=generation.counted_at if generation else None,
            waiting=waiting,
            given_up=tuple(
                FailedDocument(document.id, errors[pk])
                for pk, document in sorted(refused.items())
                if document.project in names
            ),
        )

    def _model(self, names: tuple[ProjectName, ...]) -> ModelHealth:
        facts = self._embedder.facts()
        expected = self._catalogue.vectors.expected(names)
        if not isinstance(facts, ModelFacts):
            return ModelHealth(state="unavailable", reason=facts.reason, expected=expected)
        present = self._catalogue.vectors.present(facts.fingerprint, names)
        missing = self._catalogue.vectors.count_missing(facts.fingerprint, languages=vector_languages(facts))
        return ModelHealth(state="ready", name=facts.name, expected=expected, present=present, missing=missing)


def _problems(
    projects: tuple[ProjectHealth, ...], engines: tuple[EngineHealth, ...], disk: DiskUse | None
) -> list[str]:
    found = [
        f'Project "{project.name}" is {project.state}: {project.reason or "no reason kept"}'
        for project in projects
        if project.state in (ProjectState.HELD, ProjectState.UNREACHABLE)
    ]
    for engine in engines:
        if engine.state == "incomplete":
            found.append(f"The index of {engine.engine} is incomplete; what is missing is sent again by itself.")
        if engine.given_up:
            found.append(f"The index of {engine.engine} refused {len(engine.given_up)} documents.")
    if disk is not None and disk.free_bytes is not None and disk.free_bytes < LEAST_FREE_BYTES:
        found.append(
            f"The disk of the data folder is full ({disk.free_bytes // 1024**2} MB free): indexing waits until there "
            f"are {LEAST_FREE_BYTES // 1024**2} MB. Search goes on."
        )
    return found
