"""Which known paths resemble a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from armillary_core.adapters.catalogue.sqlite.codec import name_key
from armillary_core.domain.document import encode_path

_CANDIDATES = 2000  # compared letter by letter; the rest is told apart by cheap looks
_LEAST = 0.6


def nearest_paths(wanted: str, known: Iterable[tuple[int, bytes]], *, limit: int) -> list[int]:
    """pks of the paths that are most like `wanted`, best first: the same file name elsewhere, then names alike."""
    wanted = name_key(wanted.replace("\\", "/").strip("/"))
    name = wanted.rpartition("/")[2]
    stem = name.partition(".")[0]
    if not name:
        return []
    # Documents that share the name's letters are worth a comparison; sharing the stem comes first.
    likely: list[tuple[int, str]] = []
    others: list[tuple[int, str]] = []
    letters = set(stem or name)
    for pk, raw in known:
        path = name_key(encode_path(raw))
        other = path.rpartition("/")[2]
        if other == name or (stem and (stem in other or (len(other) > 2 and other.partition(".")[0] in stem))):
            likely.append((pk, path))
        elif len(others) < _CANDIDATES and _may_resemble(other, name, letters):
            others.append((pk, path))
    scored: list[tuple[float, str, int]] = []
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(name)
    for pk, path in (likely + others)[:_CANDIDATES]:
        other = path.rpartition("/")[2]
        matcher.set_seq1(other)
        if other != name and (matcher.real_quick_ratio() < _LEAST or matcher.quick_ratio() < _LEAST):
            continue
        alike = matcher.ratio()
        if alike >= _LEAST:
            scored.append((-(alike + _shared_folders(path, wanted)), path, pk))
    return [pk for _, _, pk in sorted(scored)[:limit]]


def _may_resemble(other: str, name: str, letters: set[str]) -> bool:
    return abs(len(other) - len(name)) <= max(3, len(name) // 3) and len(letters & set(other)) * 3 >= len(letters) * 2


def _shared_folders(path: str, wanted: str) -> float:
    """At most 0.3 for folders in common, so that of two equal names the nearer one comes first."""
    mine, theirs = set(wanted.split("/")[:-1]), set(path.split("/")[:-1])
    return 0.3 * len(mine & theirs) / max(len(mine | theirs), 1)
