"""Just enough of the ONNX format to write a model file: equal input gives equal bytes, and no library is needed."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Attribute = int | float | Sequence[int]
Array = NDArray[Any]

_IR_VERSION = 10
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
FLOAT = _ELEMENT_TYPES["float32"]
INT64 = _ELEMENT_TYPES["int64"]


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _attribute(name: str, value: Attribute) -> bytes:
    body = _text(1, name)
    if isinstance(value, float):
        return body + _varint(2 << 3 | 5) + struct.pack("<f", value) + _integer(20, 1)
    if isinstance(value, int):
        return body + _integer(3, value) + _integer(20, 2)
    return body + b"".join(_integer(8, item) for item in value) + _integer(20, 7)


class Graph:
    """Nodes in order and constants by name; every method returns the name of what it made."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, tuple[bytes, Array]] = {}  # what stands in front of the values, and they
        self._ports: list[tuple[int, bytes]] = []

    def constant(self, name: str, values: Array) -> str:
        """A named tensor; the first of a name wins."""
        if name not in self._constants:
            array = np.ascontiguousarray(values)
            array = array.astype(array.dtype.newbyteorder("<"), copy=False)
            dims = b"".join(_integer(1, size) for size in values.shape)
            kind = _integer(2, _ELEMENT_TYPES[array.dtype.name])
            head = dims + kind + _text(8, name) + _varint(9 << 3 | 2) + _varint(array.nbytes)
            self._constants[name] = (head, array)
        return name

    def node(self, operator: str, inputs: Iterable[str], output: str, **attributes: Attribute) -> str:
        return self.nodes(operator, inputs, [output], **attributes)[0]

    def nodes(
        self, operator: str, inputs: Iterable[str], outputs: Sequence[str], **attributes: Attribute
    ) -> Sequence[str]:
        """One operator with several results."""
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[0]) + _text(4, operator)
        body += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        self._nodes.append(body)
        return outputs

    def input(self, name: str, element: int, dims: Sequence[str | int]) -> str:
        self._ports.append((11, _port(name, element, dims)))
        return name

    def output(self, name: str, element: int, dims: Sequence[str | int]) -> str:
        self._ports.append((12, _port(name, element, dims)))
        return name

    def write(self, path: Path, *, opset: int, producer: str) -> None:
        """Piece by piece: the constants are never copied together."""
        front = b"".join(_bytes(1, node) for node in self._nodes) + _text(2, self._name)
        ports = b"".join(_bytes(number, port) for number, port in self._ports)
        constants = [
            (_varint(5 << 3 | 2) + _varint(len(head) + array.nbytes) + head, array)
            for head, array in self._constants.values()
        ]
        size = len(front) + len(ports) + sum(len(head) + array.nbytes for head, array in constants)
        with path.open("wb") as out:
            out.write(_integer(1, _IR_VERSION) + _text(2, producer) + _varint(7 << 3 | 2) + _varint(size) + front)
            for head, array in constants:
                out.write(head)
                out.write(array.data if array.ndim else array.tobytes())
            out.write(ports + _bytes(8, _text(1, "") + _integer(2, opset)))


def _port(name: str, element: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _text(2, dim) if isinstance(dim, str) else _integer(1, dim)) for dim in dims)
    tensor = _integer(1, element) + _bytes(2, shape)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))
