"""Which known paths resemble a wrong one."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable

from armillary_core.adapters.catalogue.sqlite.codec import name_key
from armillary_core.domain.document import encode_path

_COMPARED = 200  # letter by letter; the rest is told apart by cheap looks
_LEAST = 0.6


def nearest_paths(wanted: str, known: Iterable[tuple[int, bytes]], *, limit: int) -> list[int]:
    """pks of the paths that are most like `wanted`, best first: the same file name elsewhere, then names alike."""
    wanted = name_key(wanted.replace("\\", "/").strip("/"))
    name = wanted.rpartition("/")[2]
    if not name:
        return []
    stem = name.partition(".")[0] or name
    letters, length = set(name), len(name)
    likely: list[tuple[float, int, str]] = []
    for pk, raw in known:
        path = raw.decode("ascii").lower() if raw.isascii() else name_key(encode_path(raw))
        other = path[path.rfind("/") + 1 :]
        if other == name:
            likely.append((3.0, pk, path))
        elif stem in other or (
            abs(len(other) - length) * 3 <= length and len(letters.intersection(other)) * 3 > len(letters) * 2
        ):
            likely.append((_quick_likeness(name, letters, other), pk, path))
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(name)
    scored: list[tuple[float, str, int]] = []
    for _, pk, path in heapq.nlargest(_COMPARED, likely):
        matcher.set_seq1(path[path.rfind("/") + 1 :])
        if (alike := matcher.ratio()) >= _LEAST:
            scored.append((-(alike + _shared_folders(path, wanted)), path, pk))
    return [pk for _, _, pk in sorted(scored)[:limit]]


def _quick_likeness(name: str, letters: set[str], other: str) -> float:
    """Between 0 and 2: letters in common, and the beginning or the end."""
    shared = len(letters.intersection(other)) / max(len(letters.union(other)), 1)
    return shared + 0.5 * (name[:3] == other[:3]) + 0.5 * (name[-3:] == other[-3:])


def _shared_folders(path: str, wanted: str) -> float:
    """At most 0.3 for folders in common, so that of two equal names the nearer one comes first."""
    mine, theirs = set(wanted.split("/")[:-1]), set(path.split("/")[:-1])
    return 0.3 * len(mine & theirs) / max(len(mine | theirs), 1)
