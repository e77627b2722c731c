"""Random filters over a few values of each field, some of which nothing holds."""

from __future__ import annotations

from random import Random

from armillary_core.domain.document import folder_hashes
from armillary_core.domain.query import All, AnyOf, Eq, Field, Filter, In, Not, Range

PROJECTS = ("notes", "papers", "tiny")
TYPES = ("guide", "reference", None)
MEDIA_TYPES = ("text/markdown", "text/x-python")
LOCALES = ("en", "ru", None)
VERSIONS = ("v1", "v2.0", None)
PATHS = (b"guide.md", b"docs/guide.md", b"docs/deep/guide.md", "docs/ёлка.md".encode())
DATES = ("1969-12-31", "2024-02-29", "2025-06-01", None)
DAYS = (-1, 0, 19782, 20240, 99999)
STATES = ("empty", "enriched", "stale", "failed", "diverged")

_WORDS: dict[Field, tuple[str, ...]] = {
    Field.PROJECT: (*PROJECTS, "nobody"),
    Field.TYPE: ("guide", "reference", "nothing"),
    Field.FOLDERS: (*(one for path in PATHS for one in folder_hashes(path)), "0" * 16),
    Field.MEDIA_TYPE: (*MEDIA_TYPES, "image/png"),
    Field.LOCALE: ("en", "ru", "", "de"),
    Field.VERSION: ("v1", "v2.0", "v3"),
    Field.STATE: STATES,
}


def random_filter(random: Random, depth: int = 3) -> Filter:
    kind = random.randrange(7 if depth else 4)
    if kind < 2:
        field = random.choice(list(_WORDS))
        return Eq(field, random.choice(_WORDS[field]))
    if kind == 2:
        field = random.choice(list(_WORDS))
        return In(field, tuple(random.sample(_WORDS[field], random.randrange(3))))
    if kind == 3:
        low, high = random.choice((*DAYS, None)), random.choice((*DAYS, None))
        numbers: tuple[Filter, ...] = (
            Range(Field.DATE, low, high),
            In(Field.DOCUMENT, (1, 5, 9, 10**12)),
            Eq(Field.DATE, -1),
        )
        return random.choice(numbers)
    parts = tuple(random_filter(random, depth - 1) for _ in range(random.randrange(4)))
    if kind == 4:
        return All(parts)
    return AnyOf(parts) if kind == 5 else Not(random_filter(random, depth - 1))
