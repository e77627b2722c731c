"""What a model's folder holds, and whether it is what it should be."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from armillary_core.adapters.embedding.registry import Build, ModelFile, ModelSpec

MANIFEST = "model.json"  # written last: a folder without it is not a model
TOKENIZER_CONFIG = "tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class Installed:
    """A complete model: every file is there in its right size."""

    folder: Path
    build: Build


@dataclass(frozen=True, slots=True)
class NotInstalled:
    """No usable model, and why: `damaged` names the files that are not what they should be."""

    reason: str
    damaged: tuple[str, ...] = ()


Installation: TypeAlias = Installed | NotInstalled


def find_model(spec: ModelSpec, models_folder: Path) -> Installation:
    """A look that costs a few `stat` calls: names and sizes only."""
    folder = models_folder / spec.id
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        name = manifest["build"]
    except FileNotFoundError:
        return NotInstalled(f"The model {spec.id} is not installed. Run: armillary models fetch {spec.id}")
    except (OSError, ValueError, KeyError, TypeError):
        return _damaged(spec, (MANIFEST,))
    build = next((build for build in spec.builds if build.name == name), None)
    if build is None:
        return _damaged(spec, (MANIFEST,))
    wrong = [file.path for file in build.files if _size(folder / file.path) != file.size]
    if not _says(folder / TOKENIZER_CONFIG, _tokenizer_config(spec)):
        wrong.append(TOKENIZER_CONFIG)
    return _damaged(spec, tuple(wrong)) if wrong else Installed(folder, build)


def check_model(spec: ModelSpec, models_folder: Path) -> Installation:
    """find_model, and every byte compared with the pinned hashes."""
    found = find_model(spec, models_folder)
    if isinstance(found, NotInstalled):
        return found
    wrong = tuple(file.path for file in found.build.files if not is_intact(found.folder / file.path, file))
    return _damaged(spec, wrong) if wrong else found


def is_intact(path: Path, expected: ModelFile) -> bool:
    return _size(path) == expected.size and hash_file(path) == expected.sha256


def hash_file(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def lock_file(spec: ModelSpec, models_folder: Path) -> Path:
    """Locked by the one process that brings this model."""
    return models_folder / f".{spec.id}.lock"


def is_being_fetched(spec: ModelSpec, models_folder: Path) -> bool:
    """Whether a process, this one or another, brings the model at this moment."""
    try:
        descriptor = os.open(lock_file(spec, models_folder), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def write_manifest(spec: ModelSpec, build: Build, folder: Path) -> None:
    (folder / TOKENIZER_CONFIG).write_text(_tokenizer_config(spec), encoding="utf-8")
    record = {
        "model": spec.id,
        "build": build.name,
        "licence": spec.licence,
        "files": {file.path: file.sha256 for file in build.files},
    }
    (folder / MANIFEST).write_text(json.dumps(record, indent=1), encoding="utf-8")


def _tokenizer_config(spec: ModelSpec) -> str:
    return json.dumps(spec.tokenizer_config, indent=1)


def _says(path: Path, text: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _damaged(spec: ModelSpec, files: tuple[str, ...]) -> NotInstalled:
    names = ", ".join(files)
    return NotInstalled(
        f"The model {spec.id} is damaged ({names}). Run: armillary models fetch {spec.id}", damaged=files
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
