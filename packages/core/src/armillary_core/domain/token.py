"""Who is calling and what they may do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from armillary_core.domain.project import Project, ProjectName


class Right(StrEnum):
    READ = "read"
    ENRICH = "enrich"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token; the secret itself is never kept, only its SHA-256."""

    id: int
    name: str
    digest: str
    rights: frozenset[Right]
    projects: tuple[ProjectName, ...] | None  # None = all shared projects
    created_at: float
    expires_at: float | None = None
    last_seen: float | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity every use case receives; the project filter comes from here and nowhere else."""

    name: str
    rights: frozenset[Right] = field(default_factory=lambda: frozenset(Right))
    projects: tuple[ProjectName, ...] | None = None  # None = all shared projects
    sees_private: bool = False  # the owner at the same machine, without a token

    def may(self, right: Right) -> bool:
        return right in self.rights

    def sees(self, project: Project) -> bool:
        if self.projects is not None:
            return project.name in self.projects
        return self.sees_private or not project.private

    def visible(self, projects: Iterable[Project]) -> list[Project]:
        return [project for project in projects if self.sees(project)]


LOCAL_OWNER = Caller(name="local", sees_private=True)
