from __future__ import annotations

import pytest

from armillary_core.text.spelling import allowed_mistakes, edit_distance, nearest, one_mistake_away


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("tide", "tide", 0),
        ("tide", "tides", 1),
        ("tide", "tied", 1),  # a swap of neighbours
        ("tide", "ride", 1),
        ("tide", "te", 2),
        ("abcdef", "badcfe", None),
        ("tide", "tideland", None),
    ],
)
def test_distance_counts_insertions_deletions_replacements_and_swaps(
    left: str, right: str, distance: int | None
) -> None:
    assert edit_distance(left, right, most=2) == distance
    assert edit_distance(right, left, most=2) == distance


@pytest.mark.parametrize(
    ("word", "mistakes"), [("cat", 0), ("tide", 1), ("rotates", 1), ("rotation", 2), ("utf8", 0), ("a1b2c3d4", 0)]
)
def test_longer_words_may_have_more_mistakes(word: str, mistakes: int) -> None:
    assert allowed_mistakes(word) == mistakes


def test_the_nearest_word_wins_and_of_equally_near_ones_the_commonest() -> None:
    candidates = [("backup", 3), ("backups", 40), ("backed", 100)]
    assert nearest("bakcup", candidates).mended == "backup"
    assert nearest("confg", [("confi", 2), ("config", 9)]).mended == "config"


def test_equally_near_and_common_words_are_chosen_by_the_alphabet() -> None:
    assert nearest("tidex", [("tidez", 5), ("tidea", 5)]).mended == "tidea"


def test_the_first_letter_of_a_short_word_is_believed() -> None:
    assert nearest("moon", [("soon", 50)]).mended is None
    assert nearest("omon", [("moon", 1)]).mended == "moon"
    assert nearest("xotation", [("rotation", 1)]).mended == "rotation"


def test_words_too_far_away_are_named_but_not_taken() -> None:
    found = nearest("rotate", [("rotater", 1), ("notably", 9), ("potato", 4)])
    assert found.mended == "rotater"
    assert nearest("tide", [("title", 4)]).mended is None
    assert nearest("tide", [("title", 4)]).near == ("title",)


def test_without_candidates_nothing_is_near() -> None:
    assert nearest("zzzzz", []).near == ()


@pytest.mark.parametrize(
    ("typed", "meant"), [("modfiying", "modifying"), ("deteect", "detect"), ("derees", "degrees"), ("ключчи", "ключи")]
)
def test_what_was_meant_is_among_the_spellings_one_mistake_away(typed: str, meant: str) -> None:
    spellings = one_mistake_away(typed)

    assert meant in spellings
    assert typed not in spellings
    assert all(edit_distance(typed, spelling, most=1) == 1 and spelling[0] == typed[0] for spelling in spellings)


@pytest.mark.parametrize("word", ["", "a", "cats", "bytes", "b2b2b2", "漢字漢字漢字", "naïvety"])
def test_short_words_and_other_letters_have_no_spellings(word: str) -> None:
    assert one_mistake_away(word) == []
