"""Where in a text the words of a question stand, by the same analysis that indexed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from armillary_core.text.folding import MARKS, UNSPACED, fold
from armillary_core.text.tokens import count_tokens, token_id

_LONGEST: Final = 80  # characters of a word looked at on either side
_EDGES: Final = "`\"'“”«»()[]{}<>,;:!?.*|…"
_UNSPACED_CHAR: Final = re.compile(rf"[{UNSPACED}]")
_WORD_BEFORE: Final = re.compile(rf"[\w{MARKS}]*\Z")
_WORD_AFTER: Final = re.compile(rf"[\w{MARKS}]*")
_UNIT_BEFORE: Final = re.compile(r"\S*\Z")
_UNIT_AFTER: Final = re.compile(r"\S*")


@dataclass(frozen=True, slots=True)
class Match:
    """One word of a text, end exclusive, and which words of the question it is."""

    start: int
    end: int
    tokens: frozenset[int]


class _SameLength(dict[int, str]):
    """Folds one character to one character, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        folded = fold(chr(code))
        self[code] = char = folded[0] if folded else chr(code)
        return char


_FOLDED: Final = _SameLength()


class Finder:
    """Finds the words of one question in any number of texts."""

    def __init__(self, tokens: Mapping[str, float]) -> None:
        self._weights = {token_id(token): weight for token, weight in tokens.items()}
        starts = sorted({_start(token) for token in tokens}, key=lambda start: (-len(start), start))
        self._pattern = re.compile("|".join(map(re.escape, starts))) if starts else None
        self._known: dict[tuple[str, str | None], frozenset[int]] = {}

    def find(self, text: str, start: int, end: int, *, language: str | None) -> list[Match]:
        """Matches in text[start:end] in order, with places in `text`."""
        if self._pattern is None:
            return []
        source = text[start:end]
        folded = source.lower() if source.isascii() else source.translate(_FOLDED)
        found: list[Match] = []
        at = 0
        while (hit := self._pattern.search(folded, at)) is not None:
            at = hit.end()
            match = self._match(source, hit.start(), hit.end(), language)
            if match is not None:
                found.append(Match(start + match.start, start + match.end, match.tokens))
                at = max(at, match.end)
        return found

    def weight(self, matches: Iterable[Match]) -> float:
        """How much of the question these matches are: each of its words counts once."""
        return sum(self._weights[token] for token in {token for match in matches for token in match.tokens})

    def _match(self, source: str, start: int, end: int, language: str | None) -> Match | None:
        if _UNSPACED_CHAR.match(source, start):
            tokens = self._tokens(source[start:end], language)
            return Match(start, end, tokens) if tokens else None
        word = _expanded(source, start, end, _WORD_BEFORE, _WORD_AFTER)
        unit = _expanded(source, start, end, _UNIT_BEFORE, _UNIT_AFTER)
        for first, last in (_trimmed(source, *unit), word):  # `--dry-run` before `run`
            tokens = self._tokens(source[first:last], language)
            if tokens and (last - first <= _LONGEST or (first, last) == word):
                if (first, last) != word and tokens == self._tokens(source[word[0] : word[1]], language):
                    continue  # the word alone says as much as all that is glued to it
                return Match(first, last, tokens)
        return None

    def _tokens(self, piece: str, language: str | None) -> frozenset[int]:
        key = (piece, language)
        known = self._known.get(key)
        if known is None:
            counted = count_tokens(piece, language).terms.ids
            known = self._known[key] = frozenset(token for token in counted if token in self._weights)
        return known


def _start(token: str) -> str:
    """What every form of a stem begins with."""
    if len(token) <= 3 or not token.isalpha():
        return token
    return token[:-1] if len(token) <= 5 else token[:-2]


def _expanded(source: str, start: int, end: int, before: re.Pattern[str], after: re.Pattern[str]) -> tuple[int, int]:
    left = before.search(source[max(0, start - _LONGEST) : start])
    right = after.match(source, end, min(len(source), end + _LONGEST))
    return start - (len(left.group()) if left else 0), right.end() if right else end


def _trimmed(source: str, start: int, end: int) -> tuple[int, int]:
    piece = source[start:end]
    kept = piece.strip(_EDGES)
    if not kept:
        return start, end
    lead = piece.index(kept)
    return start + lead, start + lead + len(kept)


def within(matches: Sequence[Match], start: int, end: int) -> list[Match]:
    """Those that lie in [start, end)."""
    return [match for match in matches if start <= match.start and match.end <= end]
