"""Embedding through the product against bare onnxruntime: the same model, texts and threads, in turn.

    python tests/bench/embedding.py [--models FOLDER] [--model NAME] [--texts 200]

CPU time is what counts: it does not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np

from armillary_core.adapters.embedding.fastembed import FastembedEmbedder
from armillary_core.adapters.embedding.fetch import fetch_model
from armillary_core.adapters.embedding.registry import DEFAULT_MODEL, MODELS, ModelSpec, Pooling

DEFAULT_MODELS = Path("~/.cache/armillary-models").expanduser()


def sample(count: int) -> list[str]:
    """Chunks of a length mix as documents have it: 1,200 characters, and every third shorter."""
    text = " ".join(" ".join(topics.values()).split())
    sizes = (1200, 1200, 400, 1200, 800, 150)
    chunks, at = [], 0
    while len(chunks) < count:
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(text[at % (len(text) - 1200) :][:size])
        at += size
    return chunks


class Bare:
    """onnxruntime and tokenizers, nothing else; one thread, no arena, one text a call."""

    def __init__(self, folder: Path, spec: ModelSpec) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {port.name for port in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(spec.max_tokens)
        pad = "[PAD]" if spec.pooling is Pooling.CLS else "<pad>"
        self._tokenizer.enable_padding(pad_token=pad, pad_id=self._tokenizer.token_to_id(pad))
        self._spec = spec

    def embed(self, texts: list[str]) -> Any:
        vectors = np.empty((len(texts), self._spec.dimensions), np.float32)
        for index, text in enumerate(texts):
            encoded = self._tokenizer.encode_batch([self._spec.passage_prefix + text])
            ids = np.array([item.ids for item in encoded], np.int64)
            mask = np.array([item.attention_mask for item in encoded], np.int64)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden, *_) = self._session.run(None, {name: feed[name] for name in self._inputs})
            if self._spec.pooling is Pooling.CLS:
                pooled = hidden[:, 0]
            else:
                pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[index] = pooled[0] / np.linalg.norm(pooled[0])
        return vectors


def measured(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """(wall seconds, CPU seconds, result)."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path(os.environ.get("ARMILLARY_TEST_MODELS", DEFAULT_MODELS)))
    parser.add_argument("--model", default=DEFAULT_MODEL, choices=MODELS)
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    spec = MODELS[asked.model]
    fetch_model(spec, asked.models)
    texts = sample(asked.texts)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    embedder = FastembedEmbedder(asked.models, spec.id)

    def ours() -> Any:
        return asyncio.run(_passages(embedder, texts))

    ours()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bare = Bare(asked.models / spec.id, spec)
    bare.embed(texts[:8])
    product, plain = [], []
    for _ in range(asked.rounds):  # in turn, so that the machine's moods fall on both
        product.append(measured(ours))
        plain.append(measured(lambda: bare.embed(texts)))
    cpu, bare_cpu = min(run[1] for run in product), min(run[1] for run in plain)
    agree = float((np.array(product[0][2]) * plain[0][2]).sum(axis=1).mean())
    asked_once = min(measured(lambda n=n: asyncio.run(embedder.query(f"how do I do this {n}?")))[0] for n in range(30))
    print(f"{spec.id}: {len(texts)} texts, load {os.getloadavg()[0]:.1f}")
    print(f"  product          {cpu / len(texts) * 1e3:7.1f} CPU ms a text")
    print(f"  bare onnxruntime {bare_cpu / len(texts) * 1e3:7.1f} CPU ms a text")
    print(f"  ratio            {bare_cpu / cpu:7.3f}   (0.90 wanted)")
    print(f"  mean cosine      {agree:7.4f}   question {asked_once * 1e3:.1f} ms")
    print(f"  memory           {before:.0f} MB before, {peak:.0f} MB at the peak")


async def _passages(embedder: FastembedEmbedder, texts: list[str]) -> list[list[float]]:
    vectors = await embedder.passages(texts)
    assert isinstance(vectors, list), vectors
    return vectors


if __name__ == "__main__":
    main()
