"""Which embedder runs, and the models it can have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from armillary_core.adapters.embedding.registry import DEFAULT_MODEL, MODELS, ModelSpec
from armillary_core.domain.errors import InvalidRequestError, SettingsError
from armillary_core.ports.embedder import Embedder, ModelFacts
from armillary_core.settings.model import EmbeddingEngine, FastembedEmbedding, NoEmbedding, Settings


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model whose vectors the chunk index holds."""

    fingerprint: str
    dimensions: int


def open_embedder(settings: EmbeddingEngine, *, folder: Path) -> Embedder:
    """Cheap: the model itself is loaded with the first text. Raises SettingsError for a model nobody knows."""
    match settings:
        case FastembedEmbedding():
            from armillary_core.adapters.embedding.fastembed import FastembedEmbedder

            spec = _chosen(settings)
            return FastembedEmbedder(folder, spec.id, threads=settings.threads)
        case NoEmbedding():
            from armillary_core.adapters.embedding.off import NoEmbedder

            return NoEmbedder("switched off by embedding.engine")


def model_choice(settings: EmbeddingEngine, embedder: Embedder) -> ModelChoice | None:
    """What is installed, else what will be fetched; None when search by meaning is off."""
    if not isinstance(settings, FastembedEmbedding):
        return None
    facts = embedder.facts()
    if isinstance(facts, ModelFacts):
        return ModelChoice(facts.fingerprint, facts.dimensions)
    spec = _chosen(settings)
    return ModelChoice(spec.fingerprint(spec.builds[0]), spec.dimensions)


def model_named(name: str) -> ModelSpec:
    """Raises InvalidRequestError that names the models there are."""
    if name not in MODELS:
        raise InvalidRequestError(f'No model "{name}". Models: {", ".join(MODELS)}.')
    return MODELS[name]


def _chosen(settings: FastembedEmbedding) -> ModelSpec:
    try:
        return model_named(settings.model)
    except InvalidRequestError as unknown:
        raise SettingsError(f"embedding.model: {unknown.message}") from None


def is_installed(settings: Settings) -> bool:
    """Whether the chosen model's files are there; true as well when none is wanted."""
    embedding = settings.embedding
    if not isinstance(embedding, FastembedEmbedding):
        return True
    from armillary_core.adapters.embedding.installation import Installed, find_model

    return isinstance(find_model(_chosen(embedding), models_folder(settings)), Installed)


def fetch(settings: Settings, name: str, progress: Callable[[int, int], None] | None = None) -> Path:
    """Bring a model into the data folder; blocks. Raises InvalidRequestError, BackendError."""
    from armillary_core.adapters.embedding.fetch import fetch_model

    return fetch_model(model_named(name), models_folder(settings), progress).folder


def models_folder(settings: Settings) -> Path:
    return settings.data / "models"


def take(settings: Settings, name: str, path: Path) -> Path:
    """Bring a model from a folder or package on this machine. Raises InvalidRequestError, BackendError."""
    from armillary_core.adapters.embedding.fetch import import_model

    return import_model(model_named(name), path, models_folder(settings)).folder


def check(settings: Settings, name: str) -> str | None:
    """What is wrong with a model's files; None when every byte is right. Raises InvalidRequestError."""
    from armillary_core.adapters.embedding.installation import NotInstalled, check_model

    found = check_model(model_named(name), models_folder(settings))
    return found.reason if isinstance(found, NotInstalled) else None


def chosen_model(settings: Settings) -> str:
    """The model in the settings, the usual one where search by meaning is off."""
    return settings.embedding.model if isinstance(settings.embedding, FastembedEmbedding) else DEFAULT_MODEL


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One line of `armillary models list`."""

    name: str
    chosen: bool
    state: str  # here | not here
    summary: str
    languages: tuple[str, ...]
    licence: str
    download_mb: int
    memory_mb: int
    scores: dict[str, float]


def known_models(settings: Settings) -> list[KnownModel]:
    from armillary_core.adapters.embedding.installation import Installed, find_model

    chosen = settings.embedding.model if isinstance(settings.embedding, FastembedEmbedding) else None
    return [
        KnownModel(
            name=spec.id,
            chosen=spec.id == chosen,
            state="here" if isinstance(find_model(spec, models_folder(settings)), Installed) else "not here",
            summary=spec.summary,
            languages=spec.languages,
            licence=spec.licence,
            download_mb=spec.download_mb,
            memory_mb=spec.memory_mb,
            scores=spec.scores,
        )
        for spec in MODELS.values()
    ]
