"""What is checked and settled before the one process starts: folders, rights, projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from armillary_cli.console import data_option
from armillary_core.bootstrap.catalogue import open_catalogue
from armillary_core.bootstrap.usecases import projects_of
from armillary_core.domain.errors import SettingsError
from armillary_core.domain.project import Project
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.settings.model import Settings
from armillary_core.usecases.projects import resolved_root


@dataclass(frozen=True, slots=True)
class Prepared:
    projects: tuple[Project, ...]
    added: frozenset[str]  # names of those that are new


def resolve_folders(folders: Sequence[Path | str], data: Path) -> list[str]:
    """Each folder once, in its one spelling. Raises InvalidRequestError, SettingsError."""
    roots = list(dict.fromkeys(resolved_root(str(folder)) for folder in folders))
    for root in roots:
        _refuse_own_data(root, data)
    return roots


def prepare(settings: Settings, roots: Sequence[str], *, may_be_empty: bool) -> Prepared:
    """Projects in the catalogue, the owner's wishes applied. Raises SettingsError, ConflictError."""
    with open_catalogue(settings) as catalogue:
        if not settings.is_loopback and not catalogue.tokens.any_exist():
            raise SettingsError(
                f"Listening on {settings.bind} needs a token and there is none yet: make one with "
                f"`armillary tokens create NAME{data_option(settings.data)}`, "
                "or leave out --bind to listen on this machine only."
            )
        projects = projects_of(settings, catalogue)
        added: set[str] = set()
        for name, wish in settings.projects.items():
            if wish.root is not None:
                made = projects.add(str(wish.root), LOCAL_OWNER, name=name)
                added |= {made.project.name} if made.is_new else set()
        for root in roots:
            made = projects.add(root, LOCAL_OWNER)
            added |= {made.project.name} if made.is_new else set()
        projects.apply_wishes()
        everything = catalogue.projects.all()
    if not everything and not may_be_empty:
        raise SettingsError("There is no project yet. Name at least one folder: armillary up DIR")
    return Prepared(tuple(everything), frozenset(added))


def _refuse_own_data(root: str, data: Path) -> None:
    """An index that would index itself never comes to rest."""
    try:
        inside = data.resolve().relative_to(root)
    except ValueError:
        return
    if not any(part.startswith(".") for part in inside.parts):
        raise SettingsError(
            f"The data folder {data} lies inside the project folder {root}. Choose one outside of it with --data."
        )
