"""Long text is cut into windows, never cut off."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from armillary_core.adapters.embedding import windows


def by_pieces(text: str) -> list[tuple[int, int]]:
    """A tokenizer that takes words apart: at most four letters a token."""
    return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


@given(st.text(alphabet="ab c.\n", max_size=400), st.integers(4, 40))
def test_windows_hold_all_of_the_text_in_order(text: str, limit: int) -> None:
    made = windows.split(text, limit, by_pieces)
    assert "".join(window.text for window in made) == text


@given(st.text(alphabet="abcdefgh .\n", max_size=400), st.integers(4, 40))
def test_no_window_is_longer_than_the_limit(text: str, limit: int) -> None:
    for window in windows.split(text, limit, by_pieces):
        assert window.tokens == len(by_pieces(window.text)) <= limit


def test_a_text_that_fits_is_one_window() -> None:
    assert windows.split("a short text", 10, by_pieces) == [windows.Window("a short text", 4)]


def test_windows_end_where_words_end() -> None:
    text = "alphabetical " * 30
    assert all(not window.text.strip().startswith("phab") for window in windows.split(text, 20, by_pieces))
    assert all(re.fullmatch(r"(?:\s*alphabetical\s*)+", window.text) for window in windows.split(text, 20, by_pieces))


def test_a_blank_text_is_one_window() -> None:
    assert len(windows.split("", 10, by_pieces)) == 1


def test_a_word_without_an_end_is_cut_all_the_same() -> None:
    made = windows.split("x" * 30_000, 100, by_pieces)
    assert all(window.tokens <= 100 for window in made)


def test_a_monstrous_text_costs_a_bounded_number_of_windows_from_all_of_it() -> None:
    text = "".join(f"word{number} " for number in range(200_000))
    made = windows.split(text, 100, by_pieces)
    assert len(made) <= windows.MAX_WINDOWS
    assert re.search(r"word1\d{5} ", made[-1].text)


def test_lone_surrogates_are_replaced() -> None:
    assert windows.clean("bad \ud800 end") == "bad ? end"
