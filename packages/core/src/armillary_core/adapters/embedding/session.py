"""One model in memory, through fastembed. Every method blocks and may be called from several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from armillary_core.adapters.embedding import batches, windows
from armillary_core.adapters.embedding.installation import Installed
from armillary_core.adapters.embedding.registry import ModelSpec, Pooling
from armillary_core.domain.errors import BackendUnavailableError

SPECIAL_TOKENS = 2  # one in front of every text, one behind it
_TOKENISE_AT_ONCE = 64

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
        """The vector of a question; its tail beyond the model's window is averaged in like a passage's."""
        return self._mean(windows.split(windows.clean(text), self._limit, self._offsets), self._spec.query_prefix)

    def windows_of(self, texts: Sequence[str]) -> list[list[windows.Window]]:
        """What each text is embedded as: itself, or its windows when it is longer than the model's."""
        cleaned = [windows.clean(text) for text in texts]
        found: list[list[windows.Window]] = [[] for _ in cleaned]
        order = sorted(range(len(cleaned)), key=lambda index: len(cleaned[index]))
        short = [index for index in order if len(cleaned[index]) <= windows.PIECE_CHARACTERS]
        with _translated(self._spec):
            for start in range(0, len(short), _TOKENISE_AT_ONCE):
                group = short[start : start + _TOKENISE_AT_ONCE]
                encoded = self._tokenizer.encode_batch_fast(
                    [cleaned[index] for index in group], add_special_tokens=False
                )
                for index, encoding in zip(group, encoded, strict=True):
                    tokens = sum(encoding.attention_mask)
                    if tokens <= self._limit:
                        found[index] = [windows.Window(cleaned[index], tokens)]
            for index, text in enumerate(cleaned):
                if not found[index]:
                    found[index] = windows.split(text, self._limit, self._offsets)
        return found

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """One call of the model: texts that each fit its window."""
        return [vector.tolist() for vector in self._vectors([self._spec.passage_prefix + text for text in texts])]

    def _mean(self, parts: Sequence[windows.Window], prefix: str) -> list[float]:
        weights = [max(part.tokens, 1) for part in parts]
        vectors: dict[int, list[float]] = {}
        for batch in batches.plan(weights):
            made = self._vectors([prefix + parts[index].text for index in batch])
            vectors.update((index, vector.tolist()) for index, vector in zip(batch, made, strict=True))
        return weighted_mean([vectors[index] for index in range(len(parts))], weights)

    def _vectors(self, texts: list[str]) -> list[Any]:
        with _translated(self._spec):
            return list(self._model.embed(texts, batch_size=max(len(texts), 1)))

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
