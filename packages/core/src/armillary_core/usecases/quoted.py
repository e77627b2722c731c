"""Phrases in quotes: places that hold them as they stand come first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from armillary_core.ports.catalogue import Catalogue
from armillary_core.text.folding import fold
from armillary_core.usecases.fusion import Place

_SPACE: Final = re.compile(r"\s+")


def lift_quoted(
    places: Sequence[Place], phrases: Sequence[str], catalogue: Catalogue, *, most: int
) -> tuple[list[Place], bool]:
    """Of the first `most` places those whose chunk holds every phrase, then those whose document does, then the rest;
    and whether any holds them."""
    looked_at = places[:most]
    texts = catalogue.documents.texts({place.pk for place in looked_at})
    wanted = [_plain(phrase) for phrase in phrases]
    whole = {pk: _plain(text) for pk, text in texts.items()}
    ranks = [_rank(place, wanted, whole, texts, catalogue) for place in looked_at]
    order = sorted(range(len(looked_at)), key=lambda number: (ranks[number], number))
    return [*(looked_at[number] for number in order), *places[most:]], min(ranks, default=2) < 2


def _rank(
    place: Place, wanted: Sequence[str], whole: Mapping[int, str], texts: Mapping[int, str], catalogue: Catalogue
) -> int:
    if not _holds(whole.get(place.pk, ""), wanted):
        return 2
    chunk = catalogue.documents.chunk(place.pk, max(place.ordinal, 0))
    if chunk is None:
        return 1
    piece = f"{chunk.breadcrumb}\n{texts[place.pk][chunk.start : chunk.end]}"
    return 0 if _holds(_plain(piece), wanted) else 1


def _holds(text: str, phrases: Sequence[str]) -> bool:
    return all(phrase in text for phrase in phrases)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", fold(text)).strip()
