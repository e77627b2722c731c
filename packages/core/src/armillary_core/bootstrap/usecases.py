"""Use cases that need the catalogue and nothing else, for processes that own no engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from armillary_core.adapters.clock import SystemClock
from armillary_core.bootstrap.disk import measure_disk
from armillary_core.bootstrap.embedding import models_folder, open_embedder
from armillary_core.bootstrap.versions import versions
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.embedder import Embedder
from armillary_core.settings.model import ProjectWish, Settings
from armillary_core.usecases.health import Health
from armillary_core.usecases.projects import OwnerWish, Projects
from armillary_core.usecases.reindex import Reindex
from armillary_core.usecases.tokens import Tokens


def projects_of(settings: Settings, catalogue: Catalogue) -> Projects:
    """With what the owner's configuration says about each project."""
    return Projects(catalogue, wishes={name: _wish(section) for name, section in settings.projects.items()})


def health_of(
    settings: Settings,
    catalogue: Catalogue,
    *,
    embedder: Embedder | None = None,
    watch_modes: Callable[[], Mapping[ProjectName, str]] | None = None,
) -> Health:
    return Health(
        catalogue,
        SystemClock(),
        embedder or open_embedder(settings.embedding, folder=models_folder(settings)),
        versions=versions(),
        watch_modes=watch_modes,
        measure_disk=partial(measure_disk, settings.data),
    )


def reindex_of(catalogue: Catalogue) -> Reindex:
    return Reindex(catalogue, SystemClock())


def tokens_of(catalogue: Catalogue) -> Tokens:
    return Tokens(catalogue, SystemClock())


def _wish(section: ProjectWish) -> OwnerWish:
    """Only what was written: a name with a folder alone changes neither filters nor privacy."""
    written = section.model_fields_set
    return OwnerWish(
        settings=section.settings() if written - {"root", "private"} else None,
        private=section.private if "private" in written else None,
    )
