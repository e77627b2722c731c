"""Cursors: where a long answer goes on, sealed so that nobody can alter one or use another's."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from armillary_core.domain.errors import InvalidRequestError

_MAC_BYTES = 10
_HASH_BYTES = 4
_LONGEST = 200
_BEGIN = "Call again without cursor to start from the beginning."


@dataclass(frozen=True, slots=True)
class Place:
    """Where an opened cursor points."""

    numbers: tuple[int, ...] = ()
    generation: bytes | None = None

    @property
    def offset(self) -> int:
        return self.numbers[0] if self.numbers else 0

    def check(self, generation: str) -> None:
        """Raises InvalidRequestError when what it points into has changed since."""
        if self.generation is not None and self.generation != _short_hash(generation):
            raise InvalidRequestError(f"This cursor is old: what it points into has changed since. {_BEGIN}")


class Cursors:
    """A cursor holds numbers (an offset), and belongs to one tool, one question, one generation and one token."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, tool: str, *, caller: str, subject: str, generation: str, numbers: Sequence[int]) -> str:
        """Short text without blanks; `subject` is what the same call must repeat."""
        body = _short_hash(subject) + _short_hash(generation) + b"".join(_varint(number) for number in numbers)
        return base64.urlsafe_b64encode(body + self._mac(tool, caller, body)).decode().rstrip("=")

    def open(self, tool: str, cursor: str | None, *, caller: str, subject: str) -> Place:
        """The place it points at; the beginning without a cursor. Raises InvalidRequestError that says whether it
        is foreign or belongs to another question; `Place.check` says whether it is old."""
        if cursor is None:
            return Place()
        text = cursor.strip()[:_LONGEST]
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            raw = b""
        body, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        if len(body) < 2 * _HASH_BYTES or not hmac.compare_digest(mac, self._mac(tool, caller, body)):
            raise InvalidRequestError(
                f"This cursor is not one that {tool} gave to this token, or it was altered. {_BEGIN}"
            )
        if body[:_HASH_BYTES] != _short_hash(subject):
            raise InvalidRequestError(
                "This cursor belongs to other arguments. Repeat the arguments of the call that gave it, "
                "or leave cursor out."
            )
        return Place(tuple(_numbers(body[2 * _HASH_BYTES :])), body[_HASH_BYTES : 2 * _HASH_BYTES])

    def _mac(self, tool: str, caller: str, body: bytes) -> bytes:
        message = f"{tool}\0{caller}\0".encode("utf-8", "surrogatepass") + body
        return hmac.digest(self._key, message, "sha256")[:_MAC_BYTES]


def _short_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_HASH_BYTES]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _numbers(raw: bytes) -> list[int]:
    numbers: list[int] = []
    value = shift = 0
    for byte in raw:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers
