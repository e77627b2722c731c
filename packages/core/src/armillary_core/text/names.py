"""Names: titles, file names, paths, headings and identifiers, as people type them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from armillary_core.text.folding import MARKS, UNSPACED, fold, fold_accents

NAMES_VERSION: Final = 1  # another one means that indexed names must be written anew

_QUOTES: Final = "\"'`«»„“”‘’‹› "
_TRAILING: Final = ".,;:!?… "
_SPACE: Final = re.compile(r"\s+")
_LETTER: Final = rf"(?:[^\W_]|[{MARKS}])"
_WORD: Final = re.compile(rf"{_LETTER}+(?:\+\+|\#(?!\w))?")
# Words written as one thing: `snake_case`, `pre-commit`, `a.b.c`, `utf-8`.
_UNIT: Final = re.compile(rf"{_LETTER}+(?:[_.-]{{1,2}}{_LETTER}+)*(?:\+\+|\#(?!\w))?")
_UPPER: Final = "A-ZА-ЯΑ-Ω"
_LOWER: Final = "a-zа-яα-ω"
_HUMP: Final = re.compile(
    rf"(?<=[{_LOWER}\d])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}])(?![{_UPPER}]s(?![{_LOWER}]))"
)
_UNSPACED_RUN: Final = re.compile(rf"([{UNSPACED}]+)")
_LONGEST_WORD: Final = 60
_MOST_PARTS: Final = 8


@dataclass(frozen=True, slots=True)
class NameUnit:
    """One word as it was typed: its parts, and all of them in one when there are several (`getUserById`)."""

    parts: tuple[str, ...]
    whole: str | None
    letters: int


def fold_name(text: str) -> str:
    """The form in which two whole names compare equal: case, accents, white space, quotes around it, a closing `()`
    and final punctuation aside."""
    folded = _SPACE.sub(" ", fold(text)).strip(_QUOTES)
    bare = folded.removesuffix("()").rstrip(_TRAILING).strip(_QUOTES)
    return bare or folded


def has_name(text: str) -> bool:
    """Whether anything in the text could be a name: blanks and punctuation alone are none."""
    return any(letter.isalnum() or (letter > "\x7f" and unicodedata.category(letter)[0] == "S") for letter in text)


def name_words(text: str) -> list[str]:
    """Folded words of a name in order, identifiers split: `getUserById` → get, user, by, id."""
    return [part for unit in name_units(text) for part in unit.parts]


def name_units(text: str) -> list[NameUnit]:
    """Words of a name in order; scripts without spaces by pairs of characters."""
    plain = fold_accents(text)
    units: list[NameUnit] = []
    for typed in _UNIT.findall(plain):
        if typed.isascii() or not _UNSPACED_RUN.search(typed):
            units.append(_unit(typed))
            continue
        for piece in _UNSPACED_RUN.split(typed):
            if _UNSPACED_RUN.match(piece):
                folded = piece.casefold()
                units += [NameUnit((pair,), None, len(pair)) for pair in _pairs(folded)]
            elif _WORD.search(piece):
                units.append(_unit(piece))
    return units


@lru_cache(maxsize=8192)
def _unit(typed: str) -> NameUnit:
    if typed.isalpha() and (typed[1:].islower() or typed.isupper() or len(typed) == 1):
        word = typed.casefold()[:_LONGEST_WORD]
        return NameUnit((word,), None, len(word))
    parts = tuple(
        part.casefold()[:_LONGEST_WORD] for word in _WORD.findall(typed) for part in _HUMP.sub(" ", word).split()
    )
    whole = "".join(parts)
    has_whole = 1 < len(parts) <= _MOST_PARTS and len(whole) <= _LONGEST_WORD
    return NameUnit(parts, whole if has_whole else None, len(whole))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 1 else [run]
