"""One model in memory, through fastembed. Every method blocks and may be called from several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from armillary_core.adapters.embedding import windows
from armillary_core.adapters.embedding.installation import Installed
from armillary_core.adapters.embedding.registry import ModelSpec, Pooling
from armillary_core.domain.errors import BackendUnavailableError

SPECIAL_TOKENS = 2  # one in front of every text, one behind it

_registered: set[str] = set()
_registering = threading.Lock()


class Session:
    """Loads on construction: a second or so, and the model's memory."""

    def __init__(self, spec: ModelSpec, installed: Installed) -> None:
        self.fingerprint = spec.fingerprint(installed.build)
        self._spec = spec
        with _translated(spec):
            self._model = _load(spec, installed)
            self._tokenizer = self._model.model.tokenizer
            prefixes = (spec.passage_prefix, spec.query_prefix)
            longest = max(len(self._offsets(prefix)) if prefix else 0 for prefix in prefixes)
        self._limit = spec.max_tokens - SPECIAL_TOKENS - longest

    def embed_query(self, text: str) -> list[float]:
        return self._embed(text, self._spec.query_prefix)

    def embed_passage(self, text: str) -> list[float]:
        return self._embed(text, self._spec.passage_prefix)

    def _embed(self, text: str, prefix: str) -> list[float]:
        """One text, or its windows when it is longer than the model's, their vectors averaged.

        Texts never share a call of the model. int8 models take one range of numbers a call, so neighbours would change
        each other's vectors (cosine 0.992 to 0.998), and a call of several is not cheaper: 37 CPU ms a chunk alone,
        43 to 67 in batches of 2 to 16 (bge-small, 318 tokens).
        """
        with _translated(self._spec):
            parts = windows.split(windows.clean(text), self._limit, self._offsets)
            vectors = [vector.tolist() for vector in self._model.embed([prefix + part.text for part in parts], 1)]
        return weighted_mean(vectors, [max(part.tokens, 1) for part in parts])

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        """Of every token: fastembed's tokenizer cuts at the window, but keeps what it cut off."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        offsets: list[tuple[int, int]] = list(encoding.offsets)
        for rest in encoding.overflowing:
            offsets.extend(offset for offset, real in zip(rest.offsets, rest.attention_mask, strict=True) if real)
        return offsets


def weighted_mean(vectors: Sequence[Sequence[float]], weights: Sequence[int]) -> list[float]:
    """The mean by weight, brought back to length one."""
    if len(vectors) == 1:
        return list(vectors[0])
    total = [sum(w * v for w, v in zip(weights, column, strict=True)) for column in zip(*vectors, strict=True)]
    length = sum(value * value for value in total) ** 0.5 or 1.0
    return [value / length for value in total]


def _load(spec: ModelSpec, installed: Installed) -> Any:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing may phone home, not even by mistake
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"armillary/{spec.id}"
    with _registering:
        if name not in _registered:
            TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType.CLS if spec.pooling is Pooling.CLS else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=name),  # never contacted: the folder is given below
                dim=spec.dimensions,
                model_file=installed.build.weights.path,
            )
            _registered.add(name)
    # One thread a session: more of them spin on each other, and parallel calls share the cores better.
    return TextEmbedding(
        name,
        threads=1,
        providers=["CPUExecutionProvider"],
        specific_model_path=str(installed.folder),
        local_files_only=True,
        enable_cpu_mem_arena=False,
    )


@contextmanager
def _translated(spec: ModelSpec) -> Iterator[None]:
    try:
        yield
    except _engine_errors() as failed:
        lines = str(failed).splitlines()
        reason = (lines[0] if lines else type(failed).__name__)[:200]
        raise BackendUnavailableError(f"The model {spec.id} does not work here: {reason}") from failed


def _engine_errors() -> tuple[type[BaseException], ...]:
    """What fastembed, tokenizers and onnxruntime raise; the latter's errors share no base class."""
    ours = (ImportError, OSError, ValueError, RuntimeError, TypeError, MemoryError)
    try:
        from onnxruntime.capi import onnxruntime_pybind11_state as engine
    except ImportError:
        return ours
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NoModel", "NotImplemented")
    return (*ours, *(getattr(engine, name) for name in (*names, "RuntimeException", "EPFail") if hasattr(engine, name)))
