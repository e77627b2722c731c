"""Typing mistakes: what a word that nobody wrote may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SHORTEST: Final = 4  # letters of a word that may be mended
_LOOSE_START: Final = 7  # letters from which the first one may be the one mistake
_TWO_MISTAKES: Final = 8
_SURE: Final = 6  # letters from which a spelling that was never written says enough
_LETTERS: Final = (frozenset("abcdefghijklmnopqrstuvwxyz"), frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюя"))


@dataclass(frozen=True, slots=True)
class Nearest:
    """The word it was meant to be, if that is clear enough, and what else is near."""

    mended: str | None
    near: tuple[str, ...]


def allowed_mistakes(word: str) -> int:
    """How far a word may be from what was meant: none below 4 letters, one, two from 8 letters."""
    if len(word) < _SHORTEST or not word.isalpha():
        return 0
    return 2 if len(word) >= _TWO_MISTAKES else 1


def nearest(word: str, candidates: Iterable[tuple[str, int]], *, shown: int = 3) -> Nearest:
    """Fewest mistakes first, then the commonest (chunks), then by the alphabet; words compared as the dictionary
    keeps them, folded."""
    allowed = allowed_mistakes(word)
    ranked: list[tuple[int, int, str]] = []
    for other, chunks in candidates:
        if other == word or not other.isalpha():
            continue
        distance = edit_distance(word, other, most=max(allowed, 2))
        if distance is not None:
            ranked.append((distance, -chunks, other))
    ranked.sort()
    mended = next(
        (other for distance, _, other in ranked if distance <= allowed and _may_be(word, other, distance)), None
    )
    return Nearest(mended, tuple(other for _, _, other in ranked[:shown]))


def _may_be(word: str, other: str, distance: int) -> bool:
    """People seldom mistake a word's first letter: there, another one mostly means another word."""
    if len(other) < _SHORTEST:
        return False
    if word[0] == other[0] or word[:2] == other[1::-1]:  # the same, or the first two swapped
        return True
    return distance == 1 and len(word) >= _LOOSE_START


def one_mistake_away(word: str) -> list[str]:
    """Every spelling that one mistake beyond the first letter may have turned into this one; none for short
    words and scripts whose letters are not known here."""
    letters = next((letters for letters in _LETTERS if set(word) <= letters), None)
    if letters is None or len(word) < _SURE:
        return []
    found: dict[str, None] = {}
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        found |= dict.fromkeys(f"{before}{letter}{after}" for letter in sorted(letters))
        if after:
            found[before + after[1:]] = None
            found |= dict.fromkeys(f"{before}{letter}{after[1:]}" for letter in sorted(letters))
        if len(after) > 1:
            found[f"{before}{after[1]}{after[0]}{after[2:]}"] = None
    found.pop(word, None)
    return list(found)


def edit_distance(left: str, right: str, *, most: int) -> int | None:
    """Insertions, deletions, replacements and swaps of neighbours between two words; None when more than `most`."""
    if abs(len(left) - len(right)) > most:
        return None
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        following = [i]
        for j, other in enumerate(right, start=1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) > most:
            return None
        before, row = row, following
    return row[-1] if row[-1] <= most else None
