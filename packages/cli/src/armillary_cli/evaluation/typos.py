"""One typing mistake in every question, the same ones each time: what mending is worth is measured with them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from armillary_cli.evaluation.judged_sets import Question

SHORTEST: Final = 5  # letters of a word that gets a mistake
_WORD: Final = re.compile(rf"(?<![\w./-])[^\W\d_]{{{SHORTEST},}}(?![\w./-])")  # no path, flag or identifier


def misspelled(questions: Sequence[Question], *, seed: int = 1) -> list[Question]:
    """The questions in order, one word of each with two letters swapped, one lost, doubled or replaced; questions of
    short words stay as they are."""
    found = []
    for question in questions:
        chance = random.Random(f"{seed} {question.id}")  # noqa: S311 (nothing secret)
        found.append(replace(question, text=misspell(question.text, chance)))
    return found


def misspell(text: str, chance: random.Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = chance.choice(words)
    return text[: word.start()] + _mistaken(word.group(), chance) + text[word.end() :]


def _mistaken(word: str, chance: random.Random) -> str:
    """The first letter stays: people seldom mistake it."""
    at = chance.randrange(1, len(word) - 1)
    neighbours = [letter for letter in dict.fromkeys(word.lower()) if letter != word[at].lower()]
    ways = [word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]]
    if word[at] != word[at + 1]:
        ways.append(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    if neighbours:
        ways.append(word[:at] + chance.choice(neighbours) + word[at + 1 :])
    return chance.choice(ways)
