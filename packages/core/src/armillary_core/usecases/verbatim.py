"""What stands in a document word for word: phrases in quotes, and a line that was typed as it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from armillary_core.domain.chunk import Chunk
from armillary_core.text.folding import MARKS, fold
from armillary_core.usecases.fusion import Place, Tier
from armillary_core.usecases.passages import Texts

_WORD: Final = re.compile(rf"[^\W_{MARKS}](?:[^\W_]|[{MARKS}])*")


class Phrase:
    """Words in a row, whatever signs stand between them."""

    __slots__ = ("_sought", "_words")

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._sought = sorted(set(words), key=len, reverse=True)

    def is_in(self, folded: str) -> bool:
        if not all(word in folded for word in self._sought):  # the usual case, without looking at each word
            return False
        present = _WORD.findall(folded)
        first, length = self._words[0], len(self._words)
        return any(word == first and present[at : at + length] == self._words for at, word in enumerate(present))


def phrase_of(text: str) -> Phrase | None:
    """None without words."""
    words = _WORD.findall(fold(text))
    return Phrase(words) if words else None


def lift_verbatim(
    places: Sequence[Place],
    phrases: Sequence[Phrase],
    read: Texts,
    *,
    most: int,
    anywhere: bool,
    also: Collection[int] = (),
) -> tuple[list[Place], bool]:
    """Of the first `most` places, and the first ones of the documents in `also`, those whose chunk holds every phrase
    come first, after exact names, then with `anywhere` those whose document does; and whether any holds them."""
    looked_at: list[Place] = []
    others: list[Place] = []
    for number, place in enumerate(places):
        (looked_at if number < most or (place.is_first and place.pk in also) else others).append(place)
    pks = {place.pk for place in looked_at}
    texts = read.texts(pks)
    whole = {pk for pk in pks if anywhere and _holds(texts[pk], phrases)}
    read.chunks((place.pk, place.ordinal) for place in looked_at)
    ranks: list[int] = []
    for place in looked_at:
        chunk = read.chunk(place.pk, place.ordinal)
        ranks.append(0 if _chunk_holds(texts[place.pk], chunk, phrases) else 1 if place.pk in whole else 2)
    order = sorted(
        range(len(looked_at)), key=lambda number: (min(looked_at[number].tier, Tier.SCORED), ranks[number], number)
    )
    return [*(looked_at[number] for number in order), *others], min(ranks, default=2) < 2


def _chunk_holds(text: str, chunk: Chunk | None, phrases: Sequence[Phrase]) -> bool:
    return chunk is not None and _holds(f"{chunk.breadcrumb}\n{text[chunk.start : chunk.end]}", phrases)


def _holds(text: str, phrases: Sequence[Phrase]) -> bool:
    folded = fold(text)
    return all(phrase.is_in(folded) for phrase in phrases)
