"""What stands in a document word for word: phrases in quotes, and a line that was typed as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from armillary_core.domain.chunk import Chunk
from armillary_core.text.folding import MARKS, fold
from armillary_core.usecases.fusion import Place, Tier
from armillary_core.usecases.passages import Texts

_WORD: Final = re.compile(rf"[\w{MARKS}]+")
_BETWEEN: Final = r"[\W_]+"


def words_in_a_row(text: str) -> re.Pattern[str] | None:
    """Finds these words in folded text, whatever stands between them; None without words."""
    words = _WORD.findall(fold(text))
    if not words:
        return None
    return re.compile(rf"(?<!\w){_BETWEEN.join(map(re.escape, words))}(?!\w)")


def lift_verbatim(
    places: Sequence[Place], patterns: Sequence[re.Pattern[str]], read: Texts, *, most: int, anywhere: bool
) -> tuple[list[Place], bool]:
    """Of the first `most` places those whose chunk holds every pattern come first, after exact names, then with
    `anywhere` those whose document does; and whether any holds them."""
    looked_at = places[:most]
    pks = {place.pk for place in looked_at}
    texts = read.texts(pks)
    whole = {pk for pk in pks if anywhere and _holds(texts[pk], patterns)}
    ranks: list[int] = []
    for place in looked_at:
        chunk = read.chunk(place.pk, place.ordinal)
        ranks.append(0 if _chunk_holds(texts[place.pk], chunk, patterns) else 1 if place.pk in whole else 2)
    order = sorted(
        range(len(looked_at)), key=lambda number: (min(looked_at[number].tier, Tier.SCORED), ranks[number], number)
    )
    return [*(looked_at[number] for number in order), *places[most:]], min(ranks, default=2) < 2


def _chunk_holds(text: str, chunk: Chunk | None, patterns: Sequence[re.Pattern[str]]) -> bool:
    return chunk is not None and _holds(f"{chunk.breadcrumb}\n{text[chunk.start : chunk.end]}", patterns)


def _holds(text: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    folded = fold(text)
    return all(pattern.search(folded) for pattern in patterns)
