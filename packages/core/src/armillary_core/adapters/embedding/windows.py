"""Text longer than a model's window, cut where words end: no part of it is dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Offsets = Sequence[tuple[int, int]]  # of every token, in characters
Tokenise = Callable[[str], Offsets]

PIECE_CHARACTERS = 8_000  # tokenising costs time and memory by length: longer strings are taken piece by piece
MAX_WINDOWS = 64  # of one text; beyond that evenly spaced ones stand for it


@dataclass(frozen=True, slots=True)
class Window:
    text: str
    tokens: int


def clean(text: str) -> str:
    """Text that every tokenizer accepts: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def split(text: str, limit: int, tokenise: Tokenise) -> list[Window]:
    """Windows of at most `limit` tokens that together hold all of the text; at least one, even of blank text."""
    windows: list[Window] = []
    pieces = _evenly(_pieces(text), MAX_WINDOWS)
    for piece in pieces:
        windows.extend(_windows(piece, limit, tokenise))
    return _evenly(windows, MAX_WINDOWS) or [Window("", 0)]


def _pieces(text: str) -> list[str]:
    """Cut long strings at white space near the piece's end, or hard where there is none."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > PIECE_CHARACTERS:
        end = start + PIECE_CHARACTERS
        space = max(text.rfind(mark, start + PIECE_CHARACTERS // 2, end) for mark in (" ", "\n"))
        cut = space if space > start else end
        pieces.append(text[start:cut])
        start = cut
    pieces.append(text[start:])
    return pieces


def _windows(text: str, limit: int, tokenise: Tokenise) -> list[Window]:
    offsets = tokenise(text)
    if len(offsets) <= limit:
        return [Window(text, len(offsets))]
    windows: list[Window] = []
    first, start = 0, 0
    # A word tokenised apart from its neighbours may need a token more, hence the room.
    room = max(1, limit - max(2, limit // 32))
    while first < len(offsets):
        last = min(first + room, len(offsets))
        if last < len(offsets):
            last = _word_start(text, offsets, first, last)
        end = offsets[last][0] if last < len(offsets) else len(text)
        windows.extend(_fitting(text[start:end], limit, tokenise))
        first, start = last, end
    return windows


def _fitting(text: str, limit: int, tokenise: Tokenise) -> list[Window]:
    """The window, or its halves where cutting made it longer than it was inside the text."""
    tokens = len(tokenise(text))
    if tokens <= limit or len(text) < 2:
        return [Window(text, tokens)]
    middle = len(text) // 2
    return [*_fitting(text[:middle], limit, tokenise), *_fitting(text[middle:], limit, tokenise)]


def _word_start(text: str, offsets: Offsets, first: int, last: int) -> int:
    """The nearest token at or before `last` that begins a word; `last` itself when a word fills half the window."""
    for index in range(last, first + (last - first) // 2, -1):
        start = offsets[index][0]
        if text[start - 1 : start].isspace() or text[start : start + 1].isspace():
            return index
    return last


def _evenly(items: list[T], most: int) -> list[T]:
    if len(items) <= most:
        return items
    step = len(items) / most
    return [items[int(number * step)] for number in range(most)]
