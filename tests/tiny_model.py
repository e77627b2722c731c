"""A model small enough to be made by the test: every word has a vector of its own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from armillary_core.adapters.embedding.installation import write_manifest
from armillary_core.adapters.embedding.onnx_writer import FLOAT, INT64, Graph
from armillary_core.adapters.embedding.registry import (
    MODELS,
    Build,
    HubSource,
    ModelFile,
    ModelSpec,
    Pooling,
    WheelSource,
)

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "key", "backup", "cat", "sleep", "rotate", "tail")
DIMENSIONS = len(WORDS)
MAX_TOKENS = 12


def write_files(folder: Path) -> None:
    """model.onnx and tokenizer.json: the mean of one-hot vectors of words."""
    graph = Graph("tiny")
    graph.input("input_ids", INT64, ["batch", "tokens"])
    graph.input("attention_mask", INT64, ["batch", "tokens"])
    table = np.eye(DIMENSIONS, dtype=np.float32)
    table[:4] = 0.01  # special tokens say almost nothing
    graph.node("Gather", [graph.constant("table", table), "input_ids"], "last_hidden_state")
    graph.output("last_hidden_state", FLOAT, ["batch", "tokens", DIMENSIONS])
    graph.write(folder / "model.onnx", opset=21, producer="test")
    tokenizer = {
        "version": "1.0",
        "added_tokens": [
            {
                "id": number,
                "content": word,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, word in enumerate(WORDS[:4])
        ],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {
                word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ("[CLS]", "[SEP]")
            },
        },
        "model": {
            "type": "WordLevel",
            "unk_token": "[UNK]",
            "vocab": {word: number for number, word in enumerate(WORDS)},
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")


def spec_of(folder: Path, name: str = "tiny") -> ModelSpec:
    """The registry entry of the files in this folder."""
    files = tuple(
        ModelFile(path, (folder / path).stat().st_size, hashlib.sha256((folder / path).read_bytes()).hexdigest())
        for path in ("model.onnx", "tokenizer.json")
    )
    return ModelSpec(
        id=name,
        summary="for tests",
        licence="MIT",
        languages=("en",),
        dimensions=DIMENSIONS,
        pooling=Pooling.MEAN,
        max_tokens=MAX_TOKENS,
        query_prefix="query ",
        passage_prefix="",
        cosine_floor=0.1,
        cosine_ceiling=0.9,
        memory_mb=1,
        tokenizer_config={"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"},
        builds=(
            Build(
                name="whole",
                files=files,
                sources=(
                    HubSource("tiny/model", "abc123", {"model.onnx": "onnx/model.onnx", "tokenizer.json": "t.json"}),
                    WheelSource(
                        "tinymodel",
                        "1.0",
                        2000,
                        {"model.onnx": "tinymodel/data/m.onnx", "tokenizer.json": "tinymodel/data/t.json"},
                    ),
                ),
            ),
        ),
        scores={},
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The model's files as somebody published them."""
    folder = tmp_path / "files"
    folder.mkdir()
    write_files(folder)
    return folder


@pytest.fixture
def spec(files: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSpec:
    made = spec_of(files)
    monkeypatch.setitem(MODELS, made.id, made)
    return made


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def installed(files: Path, spec: ModelSpec, models: Path) -> Path:
    """The folder of all models, the tiny one in it."""
    folder = models / spec.id
    folder.mkdir(parents=True)
    for file in spec.builds[0].files:
        (folder / file.path).write_bytes((files / file.path).read_bytes())
    write_manifest(spec, spec.builds[0], folder)
    return models
