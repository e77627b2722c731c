"""Where in a text the words of a question stand, by the same analysis that indexed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from armillary_core.text.folding import MARKS, UNSPACED, fold
from armillary_core.text.tokens import count_tokens, token_id

_LONGEST: Final = 120  # characters of what stands between white space and is looked at as one
_EDGES: Final = "“”«»:.…"
_WORD: Final = re.compile(rf"[\w{MARKS}]+")
_UNSPACED_CHAR: Final = re.compile(rf"[{UNSPACED}]")
# White space, and what never joins two words to one.
_BLANK: Final = str.maketrans(dict.fromkeys("\n\t\r\f\v\u00a0\u2028\u2029\u3000`\"'()<>[]{}|,;!?*=&^%$", " "))


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
_Pieces = tuple[tuple[int, int, frozenset[int]], ...]


class Finder:
    """Finds the words of one question in any number of texts."""

    def __init__(self, tokens: Mapping[str, float]) -> None:
        self.weights = {token_id(token): weight for token, weight in tokens.items()}
        starts = sorted({_start(token) for token in tokens}, key=lambda start: (-len(start), start))
        self._pattern = re.compile("|".join(map(re.escape, starts))) if starts else None
        self._known: dict[tuple[str, str | None], _Pieces] = {}

    def find(self, text: str, start: int, end: int, *, language: str | None) -> list[Match]:
        """Matches in text[start:end] in order, with places in `text`."""
        if self._pattern is None:
            return []
        source = text[start:end]
        folded = (source.lower() if source.isascii() else source.translate(_FOLDED)).translate(_BLANK)
        found: list[Match] = []
        at = 0
        while (hit := self._pattern.search(folded, at)) is not None:
            first = max(folded.rfind(" ", 0, hit.start()) + 1, at, hit.start() - _LONGEST)
            last = folded.find(" ", hit.end())
            last = min(last if last >= 0 else len(folded), hit.end() + _LONGEST)
            place = start + first
            for piece_start, piece_end, tokens in self._pieces(source[first:last], language):
                found.append(Match(place + piece_start, place + piece_end, tokens))
            at = last
        return found

    def weight(self, matches: Iterable[Match]) -> float:
        """How much of the question these matches are: each of its words counts once."""
        return sum(self.weights[token] for token in {token for match in matches for token in match.tokens})

    def _pieces(self, cluster: str, language: str | None) -> _Pieces:
        """Words of one cluster that were asked for; the cluster itself where it is more than its words, as
        `--dry-run` is."""
        key = (cluster, language)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._analysed(cluster, language))
        return known

    def _analysed(self, cluster: str, language: str | None) -> list[tuple[int, int, frozenset[int]]]:
        kept = cluster.strip(_EDGES) or cluster
        everything = self._tokens(kept, language)
        if not everything:
            return []
        pieces: list[tuple[int, int, frozenset[int]]] = []
        for word in _WORD.finditer(cluster):
            if _UNSPACED_CHAR.search(word.group()):
                pieces += self._in_run(word.group(), word.start(), language)
            elif tokens := self._tokens(word.group(), language):
                pieces.append((word.start(), word.end(), tokens))
        if everything <= {token for _, _, tokens in pieces for token in tokens}:
            return pieces
        lead = cluster.index(kept)
        return [(lead, lead + len(kept), everything)]

    def _in_run(self, run: str, offset: int, language: str | None) -> list[tuple[int, int, frozenset[int]]]:
        """Pairs of characters that were asked for; those that touch are one."""
        folded = run.translate(_FOLDED)
        pieces: list[tuple[int, int, frozenset[int]]] = []
        at = 0
        while self._pattern is not None and (hit := self._pattern.search(folded, at)) is not None:
            at = hit.start() + 1
            tokens = self._tokens(hit.group(), language)
            if not tokens:
                continue
            start, end = offset + hit.start(), offset + hit.end()
            if pieces and pieces[-1][1] >= start:
                before = pieces.pop()
                start, end, tokens = before[0], max(before[1], end), before[2] | tokens
            pieces.append((start, end, tokens))
        return pieces

    def _tokens(self, piece: str, language: str | None) -> frozenset[int]:
        return frozenset([token for token in _ids(piece, language) if token in self.weights])


@lru_cache(maxsize=8192)
def _ids(piece: str, language: str | None) -> tuple[int, ...]:
    return tuple(count_tokens(piece, language).terms.ids)


def _start(token: str) -> str:
    """What every form of a stem begins with."""
    if len(token) <= 3 or not token.isalpha():
        return token
    return token[:-1] if len(token) <= 5 else token[:-2]


def within(matches: Sequence[Match], start: int, end: int) -> list[Match]:
    """Those that lie in [start, end)."""
    return [match for match in matches if start <= match.start and match.end <= end]
