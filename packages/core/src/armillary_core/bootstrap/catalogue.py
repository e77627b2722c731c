"""The catalogue of a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armillary_core.domain.errors import SettingsError
from armillary_core.ports.catalogue import Catalogue
from armillary_core.settings.model import Settings

FILE = "catalogue.sqlite3"


def catalogue_path(settings: Settings) -> Path:
    return settings.data / FILE


def prepare_data_folder(settings: Settings) -> None:
    """Make the data folder for this user alone. Raises SettingsError with the way out when it cannot be written."""
    folder = settings.data
    way_out = "Choose another data folder with --data, or make it writable for this user."
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = folder / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except FileExistsError:
        raise SettingsError(f"The data folder {folder} is a file. {way_out}") from None
    except OSError as failed:
        raise SettingsError(f"The data folder {folder} cannot be written ({failed.strerror}). {way_out}") from None


@contextmanager
def open_catalogue(settings: Settings) -> Iterator[Catalogue]:
    """The catalogue alone, without engines. Raises SettingsError, BackendError."""
    from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue

    prepare_data_folder(settings)
    catalogue = SqliteCatalogue.open(catalogue_path(settings))
    try:
        yield catalogue
    finally:
        catalogue.close()
