"""How texts share a call of the model: equal lengths together, and never more than memory likes."""

from __future__ import annotations

from collections.abc import Sequence

BATCH_TOKENS = 500  # padding included: more is slower a text and takes more memory
BATCH_TEXTS = 16


def plan(tokens: Sequence[int]) -> list[list[int]]:
    """Indexes of texts, grouped so that a batch wastes little on padding. Longest first: memory peaks at once."""
    order = sorted(range(len(tokens)), key=lambda index: -tokens[index])
    batches: list[list[int]] = []
    width = 0
    for index in order:
        if batches and len(batches[-1]) < BATCH_TEXTS and (len(batches[-1]) + 1) * width <= BATCH_TOKENS:
            batches[-1].append(index)
        else:
            batches.append([index])
            width = max(tokens[index], 1)
    return batches
