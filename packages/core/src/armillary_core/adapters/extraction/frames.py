"""Messages between the pool and its workers: length-prefixed pickles, with short ways for the values sent most."""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final

from armillary_core.adapters.extraction.limits import ExtractionLimits
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import Chunk, ChunkSpan, TermCounts
from armillary_core.domain.document import FileStamp
from armillary_core.domain.ingest import ExtractedText, Failed, Indexed, NameOnly
from armillary_core.ports.extraction import Extracted, ExtractionTask, Unchanged

HEADER: Final = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message to a worker."""

    limits: ExtractionLimits
    extractors: str  # "module:NAME"


@dataclass(frozen=True, slots=True)
class Batch:
    tasks: tuple[ExtractionTask, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Ask which libraries cannot be loaded; answered by a tuple of lines."""


@dataclass(frozen=True, slots=True)
class Results:
    rows: list[Extracted]
    done: bool  # the batch is finished
    leaving: bool = False  # the worker has grown and ends; start another


def _short_way(cls: type) -> Callable[[object], tuple[type, tuple[object, ...]]]:
    names = [field.name for field in fields(cls)]
    values = attrgetter(*names)
    if len(names) == 1:
        return lambda value: (cls, (values(value),))
    return lambda value: (cls, values(value))


# The generated __getstate__ of frozen slotted dataclasses costs several times what the rest of a document costs.
_DISPATCH: Final = copyreg.dispatch_table.copy() | {
    cls: _short_way(cls)
    for cls in (
        BaseLayer,
        Chapter,
        Chunk,
        ChunkSpan,
        Extracted,
        ExtractedText,
        ExtractionTask,
        Failed,
        FileStamp,
        Indexed,
        NameOnly,
        TermCounts,
        Unchanged,
    )
}


def pack(message: object) -> bytes:
    """A message with its length in front."""
    buffer = io.BytesIO()
    buffer.write(b"\0" * HEADER.size)
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _DISPATCH
    pickler.dump(message)
    packed = buffer.getbuffer()
    HEADER.pack_into(packed, 0, len(packed) - HEADER.size)
    return buffer.getvalue() if len(packed) < 1 << 20 else bytes(packed)


def unpack(body: bytes) -> object:
    """Only ever called on what our own other end sent through a pipe."""
    return pickle.loads(body)  # noqa: S301
