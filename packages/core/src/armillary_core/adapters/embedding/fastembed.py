"""The embedder that runs in this process: fastembed on onnxruntime, in threads of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from typing_extensions import override

from armillary_core.adapters.embedding.installation import (
    MANIFEST,
    Installation,
    NotInstalled,
    check_model,
    find_model,
    is_being_fetched,
)
from armillary_core.adapters.embedding.registry import MODELS, ModelSpec
from armillary_core.adapters.embedding.session import Session
from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.ports.embedder import Embedder, EmbedderUnavailable, ModelFacts

QUERY_CACHE = 256
TEXTS_A_TURN = 4
QUERY_THREADS = 2

_Stamp = tuple[int, int]  # of the manifest: inode and time of writing


class FastembedEmbedder(Embedder):
    """One model below `folder` (which holds all of them, each under its name), loaded at first use.

    A model that is fetched, repaired or replaced while this runs is noticed by itself.
    """

    def __init__(self, folder: Path, model: str, threads: int = 1) -> None:
        self._folder = folder
        self._model = model
        self._spec = MODELS.get(model)
        self._loading = threading.Lock()
        self._session: tuple[_Stamp, Session] | None = None
        self._found: tuple[_Stamp, Installation] | None = None
        self._broken: tuple[_Stamp, str] | None = None
        self._queries: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="embed", initializer=_step_back)
        self._query_workers = ThreadPoolExecutor(QUERY_THREADS, thread_name_prefix="embed-query")
        self._threads = threads

    @override
    def facts(self) -> ModelFacts | EmbedderUnavailable:
        spec = self._spec
        if spec is None:
            return EmbedderUnavailable(f"There is no model {self._model!r}. Models: {', '.join(MODELS)}.")
        stamp = self._stamp(spec)
        if self._broken is not None and self._broken[0] == stamp:
            return EmbedderUnavailable(self._broken[1])
        found = self._look(spec, stamp)
        if isinstance(found, NotInstalled):
            if is_being_fetched(spec, self._folder):
                return EmbedderUnavailable(f"The model {spec.id} is being fetched.")
            return EmbedderUnavailable(found.reason)
        return ModelFacts(
            name=spec.id,
            fingerprint=spec.fingerprint(found.build),
            dimensions=spec.dimensions,
            max_tokens=spec.max_tokens,
            languages=spec.languages,
            cosine_floor=spec.cosine_floor,
            cosine_ceiling=spec.cosine_ceiling,
        )

    @override
    async def query(self, text: str) -> list[float] | EmbedderUnavailable:
        if not text.strip():
            return EmbedderUnavailable("there is nothing to embed")
        facts = self.facts()
        if isinstance(facts, EmbedderUnavailable):
            return facts
        key = (facts.fingerprint, text)
        if (known := self._queries.get(key)) is not None:
            self._queries.move_to_end(key)
            return list(known)
        loop = asyncio.get_running_loop()
        vector = await loop.run_in_executor(self._query_workers, self._embed_query, text)
        if isinstance(vector, EmbedderUnavailable):
            return vector
        self._queries[key] = vector
        while len(self._queries) > QUERY_CACHE:
            self._queries.popitem(last=False)
        return list(vector)

    @override
    async def passages(self, texts: Sequence[str]) -> list[list[float]] | EmbedderUnavailable:
        """In low-priority threads, so that a question asked meanwhile does not wait for them."""
        loop = asyncio.get_running_loop()
        turns = [texts[start : start + TEXTS_A_TURN] for start in range(0, len(texts), TEXTS_A_TURN)]
        found: list[list[float]] = []
        for start in range(0, len(turns), self._threads):  # cancelling takes effect between these
            at_once = turns[start : start + self._threads]
            for made in await asyncio.gather(
                *(loop.run_in_executor(self._workers, self._embed_passages, turn) for turn in at_once)
            ):
                if isinstance(made, EmbedderUnavailable):
                    return made
                found.extend(made)
        return found

    @override
    async def close(self) -> None:
        """What runs now ends by itself; the model's memory is given back."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._query_workers.shutdown(wait=False, cancel_futures=True)
        self._session = None
        self._queries.clear()

    # -- in threads ------------------------------------------------------------------------------------------------

    def _embed_query(self, text: str) -> list[float] | EmbedderUnavailable:
        try:
            return self._loaded().embed_query(text)
        except BackendUnavailableError as failed:
            return EmbedderUnavailable(failed.message)

    def _embed_passages(self, texts: Sequence[str]) -> list[list[float]] | EmbedderUnavailable:
        try:
            session = self._loaded()
            return [session.embed_passage(text) for text in texts]
        except BackendUnavailableError as failed:
            return EmbedderUnavailable(failed.message)

    def _loaded(self) -> Session:
        """The session of what the folder holds now; loaded, or loaded anew, when need be."""
        spec = self._spec
        assert spec is not None, "facts() said so before"
        with self._loading:
            stamp = self._stamp(spec)
            if self._session is not None and self._session[0] == stamp:
                return self._session[1]
            if self._broken is not None and self._broken[0] == stamp:
                raise BackendUnavailableError(self._broken[1])
            try:
                checked = check_model(spec, self._folder)
                if isinstance(checked, NotInstalled):
                    raise BackendUnavailableError(checked.reason)
                session = Session(spec, checked)
            except BackendUnavailableError as failed:
                self._session, self._broken = None, (stamp, failed.message)
                raise
            self._session, self._broken = (stamp, session), None
            return session

    # -- the folder ------------------------------------------------------------------------------------------------

    def _look(self, spec: ModelSpec, stamp: _Stamp) -> Installation:
        """find_model, asked again only when the manifest changed."""
        if self._found is None or self._found[0] != stamp:
            self._found = (stamp, find_model(spec, self._folder))
        return self._found[1]

    def _stamp(self, spec: ModelSpec) -> _Stamp:
        try:
            stat = (self._folder / spec.id / MANIFEST).stat()
        except OSError:
            return (0, 0)
        return (stat.st_ino, stat.st_mtime_ns)


def _step_back() -> None:
    """Threads that embed passages give way to everything else; only Linux has priorities of single threads."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
