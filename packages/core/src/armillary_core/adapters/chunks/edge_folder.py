"""The folder of an embedded chunk index: its shard, a stamp that says what is in it, and the engine's errors."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import qdrant_edge as qe

from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError, IndexOutdatedError
from armillary_core.domain.query import Field

SCHEMA: Final = "edge-1"  # grows when the same points would be stored in another way
WORDS: Final = "words"
MEANING: Final = "meaning"

_STAMP: Final = "schema.json"
_KEYWORDS: Final = (Field.TYPE, Field.FOLDERS, Field.MEDIA_TYPE, Field.LOCALE, Field.VERSION, Field.STATE)
_NUMBERS: Final = (Field.DATE, Field.DOCUMENT)
# What the engine says when a request is wrong; everything else is trouble of its own.
_REFUSALS: Final = ("vector dimension error", "not existing vector name", "validation failed", "wrong input")


def create_shard(folder: Path) -> qe.EdgeShard:
    """An empty shard whose filterable fields are indexed before anything is loaded. There is room for vectors later."""
    settings = qe.EdgeConfig(
        vectors={},
        sparse_vectors={WORDS: qe.EdgeSparseVectorParams()},
        optimizers=qe.EdgeOptimizersConfig(indexing_threshold=10**12, default_segment_number=1),
        max_search_threads=1,
    )
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        shard = qe.EdgeShard.create(str(folder / "shard"), settings)
        index = qe.UpdateOperation.create_field_index
        shard.update(index(Field.PROJECT.value, qe.KeywordIndexParams(is_tenant=True)))
        for field in _KEYWORDS:
            shard.update(index(field.value, qe.PayloadSchemaType.Keyword))
        for field in _NUMBERS:
            shard.update(index(field.value, qe.PayloadSchemaType.Integer))
        shard.flush()
        write_stamp(folder, None)  # last: before it, nothing counts as written
    return shard


def load_shard(folder: Path) -> tuple[qe.EdgeShard, int | None]:
    """The shard and the length of its vectors. Raises IndexOutdatedError or BackendUnavailableError."""
    if not (folder / _STAMP).exists():
        raise IndexOutdatedError(f"The chunk index in {folder} was never finished; delete the folder.")
    try:
        stamp = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
        schema, dimensions = stamp["schema"], stamp["dimensions"]
    except (OSError, ValueError, KeyError, TypeError) as broken:
        raise IndexOutdatedError(f"The chunk index in {folder} is broken; delete the folder.") from broken
    if schema != SCHEMA:
        raise IndexOutdatedError(f"The chunk index in {folder} was written by another version; delete the folder.")
    try:
        with plain_errors(folder):
            return qe.EdgeShard.load(str(folder / "shard")), dimensions
    except BackendUnavailableError as trouble:
        if "in use" in trouble.message or "No space" in trouble.message:
            raise
        raise IndexOutdatedError(f"The chunk index in {folder} cannot be read; delete the folder.") from trouble


def write_stamp(folder: Path, dimensions: int | None) -> None:
    draft = folder / f"{_STAMP}.new"
    draft.write_text(json.dumps({"schema": SCHEMA, "dimensions": dimensions}), encoding="utf-8")
    draft.replace(folder / _STAMP)


def is_empty(folder: Path) -> bool:
    return not folder.exists() or not any(folder.iterdir())


def remove_contents(folder: Path) -> None:
    (folder / _STAMP).unlink(missing_ok=True)  # first: without it the rest counts as never finished
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextlib.contextmanager
def plain_errors(folder: Path) -> Iterator[None]:
    """The binding raises bare Exception, and a panic that is no Exception at all."""
    try:
        yield
    except (BackendUnavailableError, BackendRejectedError, IndexOutdatedError):
        raise
    except (TypeError, ValueError, OverflowError) as wrong:  # a value the binding cannot take
        raise BackendRejectedError(f"The chunk index refused a value: {_first_line(wrong)}") from wrong
    except Exception as trouble:
        words = _first_line(trouble)
        if "WouldBlock" in words:
            raise BackendUnavailableError(
                f"The chunk index in {folder} is in use by another process. Stop it, or give this one its own folder."
            ) from trouble
        if any(refusal in words.lower() for refusal in _REFUSALS):
            raise BackendRejectedError(f"The chunk index refused: {words}") from trouble
        raise BackendUnavailableError(f"The chunk index failed: {words}") from trouble
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        raise BackendUnavailableError(f"The chunk index failed: {_first_line(panic)}") from panic


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]
