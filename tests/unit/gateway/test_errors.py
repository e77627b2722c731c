from __future__ import annotations

import pytest

from armillary_core.domain import errors
from armillary_core.domain.errors import AppError
from armillary_gateway.errors import MAX_BYTES, NEXT_STEP, words


def tree(kind: type[AppError]) -> list[type[AppError]]:
    return [kind] + [found for below in kind.__subclasses__() for found in tree(below)]


OURS = [kind for kind in tree(AppError) if kind.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", OURS)
def test_every_error_has_a_row(kind: type[AppError]) -> None:
    assert kind in NEXT_STEP


def test_words_are_one_short_line() -> None:
    said = words(errors.BackendUnavailableError("Engine\n gone.\t" + "x" * 9000))
    assert "\n" not in said and len(said.encode()) <= MAX_BYTES


def test_the_next_step_follows_the_message() -> None:
    assert words(errors.BackendUnavailableError("It is away.")) == "It is away. Try again in a moment."
