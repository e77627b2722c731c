"""Adding, removing and listing projects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from armillary_core.domain.errors import (
    AccessDeniedError,
    ConflictError,
    InvalidRequestError,
    ProjectNotFoundError,
)
from armillary_core.domain.project import (
    Project,
    ProjectCounts,
    ProjectName,
    ProjectSettings,
    name_from_folder,
    project_name,
)
from armillary_core.domain.token import Caller, Right
from armillary_core.ports.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class OwnerWish:
    """What the owner wrote about a project in the configuration; it wins over the catalogue."""

    settings: ProjectSettings | None = None  # None = nothing was written
    private: bool | None = None


@dataclass(frozen=True, slots=True)
class Added:
    project: Project
    is_new: bool


class Projects:
    """One folder belongs to one project: every spelling of a folder is the same folder, and none lies in another."""

    def __init__(self, catalogue: Catalogue, *, wishes: Mapping[str, OwnerWish] | None = None) -> None:
        self._catalogue = catalogue
        self._wishes = dict(wishes or {})

    def list(self, caller: Caller) -> list[tuple[Project, ProjectCounts]]:
        """Every project the caller sees, by name."""
        visible = caller.visible(self._catalogue.projects.all())
        counts = self._catalogue.projects.counts([project.name for project in visible])
        return [(project, counts.get(project.name, ProjectCounts())) for project in visible]

    def add(
        self,
        folder: str,
        caller: Caller,
        *,
        name: str | None = None,
        private: bool | None = None,
        settings: ProjectSettings | None = None,
    ) -> Added:
        """Make a folder a project; one that is a project already is returned as it is. The name of a project whose
        folder is gone may be given to say where it is now: enrichment stays. Raises InvalidRequestError for a folder
        that cannot be read, ConflictError for a taken name or a folder inside another project."""
        _require_manage(caller)
        root = resolved_root(folder)
        existing = self._catalogue.projects.all()
        for project in existing:
            if same_folder(project.root, root):
                if name is not None and name != project.name:
                    raise ConflictError(f'{_shown(root)} is already indexed as project "{project.name}".')
                return Added(self._refresh(project, private, settings), is_new=False)
        for project in existing:
            if relation := overlap(root, project.root):
                raise ConflictError(
                    f'{_shown(root)} {relation} project "{project.name}" ({_shown(project.root)}), so its files would '
                    "be found twice. Index one of the two."
                )
        taken: set[str] = {project.name for project in existing}
        chosen = project_name(name) if name is not None else name_from_folder(_shown(Path(root).name), taken)
        namesake = next((project for project in existing if project.name == chosen), None)
        if namesake is not None and Path(namesake.root).exists():
            raise ConflictError(f'There is another project "{chosen}" already. Give this one its own name.')
        wish = self._wishes.get(chosen)
        before = (namesake.private, namesake.settings) if namesake else (False, None)
        made = self._catalogue.projects.put(
            chosen,
            root=root,
            private=_first(wish.private if wish else None, private, before[0]),
            settings=(wish.settings if wish else None) or settings or before[1],
        )
        return Added(made, is_new=namesake is None)

    def apply_wishes(self) -> None:
        """Write what the owner's configuration says about projects that exist."""
        for project in self._catalogue.projects.all():
            self._refresh(project, None, None)

    def remove(self, name: str, caller: Caller, *, confirm: str | None = None) -> ProjectCounts:
        """Forget a project, its documents and its enrichment; its files stay as they are. Returns what was forgotten.
        Raises ProjectNotFoundError, InvalidRequestError when `confirm` does not repeat the name of a project that
        has enrichment."""
        _require_manage(caller)
        visible = caller.visible(self._catalogue.projects.all())
        project = next((project for project in visible if project.name == name), None)
        if project is None:
            names = ", ".join(project.name for project in visible) or "none"
            raise ProjectNotFoundError(f'No project "{name[:100]}". Projects: {names}.')
        counts = self._catalogue.projects.counts([project.name])[project.name]
        written = counts.enriched + counts.stale + counts.desync
        if written and confirm != project.name:
            raise InvalidRequestError(
                f'Project "{name}" has {written} enriched cards that cannot be made again from its files. '
                f'Repeat the name to confirm: "{name}".'
            )
        self._catalogue.projects.remove(project.name)
        return counts

    def _refresh(self, project: Project, private: bool | None, settings: ProjectSettings | None) -> Project:
        wish = self._wishes.get(project.name)
        wanted = (
            _first(wish.private if wish else None, private, project.private),
            (wish.settings if wish else None) or settings or project.settings,
        )
        if wanted == (project.private, project.settings):
            return project
        return self._catalogue.projects.put(
            ProjectName(project.name), root=project.root, private=wanted[0], settings=wanted[1]
        )


def resolved_root(folder: str) -> str:
    """The one spelling of a folder: absolute, links resolved, no trailing slash. Raises InvalidRequestError."""
    path = Path(folder).expanduser()
    try:
        root = path.resolve(strict=True)
    except FileNotFoundError:
        raise InvalidRequestError(f"There is no folder {_shown(folder)}.") from None
    except (OSError, RuntimeError) as failed:
        raise InvalidRequestError(f"{_shown(folder)} cannot be opened: {_words(failed)}.") from None
    if not root.is_dir():
        raise InvalidRequestError(f"{_shown(folder)} is not a folder.")
    if not os.access(root, os.R_OK | os.X_OK):
        raise InvalidRequestError(f"{_shown(folder)} may not be read by this user.")
    return str(root)


def same_folder(one: str, other: str) -> bool:
    """Also true on file systems that do not tell upper from lower case, and for bind mounts of one folder."""
    if one == other:
        return True
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


def overlap(one: str, other: str) -> str | None:
    """How `one` lies to `other`: "lies inside", "contains", or None when they are apart."""
    if Path(one).is_relative_to(other):
        return "lies inside"
    if Path(other).is_relative_to(one):
        return "contains"
    return None


def _first(*values: bool | None) -> bool:
    return next((value for value in values if value is not None), False)


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _words(failed: Exception) -> str:
    return (failed.strerror or str(failed)) if isinstance(failed, OSError) else str(failed)


def _require_manage(caller: Caller) -> None:
    if not caller.may(Right.MANAGE):
        raise AccessDeniedError("Projects are added and removed with a token that has the right to manage.")
