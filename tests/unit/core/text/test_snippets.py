from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.text.matches import Finder
from armillary_core.text.snippets import MARK_END, MARK_START, cut_snippet
from armillary_core.text.tokens import query_terms


def finder(query: str, languages: tuple[str, ...] = ("en",)) -> Finder:
    return Finder({token: 1.0 for term in query_terms(query, languages) for token in term.tokens})


def snippet(text: str, query: str, *, size: int = 200, language: str | None = "en") -> str:
    found = finder(query, (language,) if language else ())
    matches = found.find(text, 0, len(text), language=language)
    return cut_snippet(text, 0, len(text), matches, size=size, weights=found.weights)


def plain(marked: str) -> str:
    return marked.replace(MARK_START, "").replace(MARK_END, "")


def marked_words(text: str) -> list[str]:
    return [piece.partition(MARK_END)[0] for piece in text.split(MARK_START)[1:]]


def test_matches_are_marked_whatever_their_form() -> None:
    assert snippet("We rotated keys; rotation takes a key.", "rotate key") == (
        "We \x02rotated\x03 \x02keys\x03; \x02rotation\x03 takes a \x02key\x03."
    )


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("Ключами владеет сервер", "ключи сервера", ["Ключами", "сервер"]),
        ("Еще ёлка и елка", "ёлка", ["ёлка", "елка"]),
        ("Die Straße und die STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("un café CAFE", "café", ["café", "CAFE"]),
        ("call getUserById(3) or get_user", "user", ["getUserById", "get_user"]),
        ("pass `--dry-run`, then run", "--dry-run", ["--dry-run", "run"]),
        ("今日は東京タワーに行った", "東京タワー", ["東京タワー"]),
        ("C# and C", "C#", ["C#", "C"]),
    ],
)
def test_matches_are_those_of_the_index(text: str, query: str, words: list[str]) -> None:
    language = "ru" if "К" in text or "ё" in text else "de" if "ß" in text else "en"
    assert marked_words(snippet(text, query, language=language)) == words


def test_a_long_text_is_cut_around_most_of_the_matches_at_words() -> None:
    text = "Filler sentence here. " * 40 + "The spring tide comes with the full moon. " + "More filler follows. " * 40
    cut = snippet(text, "tide moon", size=80)
    assert len(plain(cut)) <= 80
    assert marked_words(cut) == ["tide", "moon"]
    assert cut.startswith("…The spring")
    assert cut.endswith("…")
    assert all(word in text for word in plain(cut).strip("…").split())


def test_without_matches_it_is_the_beginning() -> None:
    assert snippet("One. " * 100, "absent", size=20) == "One. One. One.…"


def test_a_heading_is_not_repeated() -> None:
    assert snippet("## Tides\n\nThe tide turns.", "tide") == "The \x02tide\x03 turns."
    assert snippet("## Tides", "tide") == "## \x02Tides\x03"


def test_control_characters_and_line_ends_are_gone() -> None:
    assert snippet("a \x1b[31m \x07tide\x00\r\n\tturns\u2028now", "tide") == "a [31m \x02tide\x03 turns now"


def test_marks_of_the_text_itself_do_not_survive() -> None:
    assert snippet("a \x02fake\x03 mark", "other") == "a fake mark"


def test_one_endless_word_is_cut_too() -> None:
    assert len(plain(snippet("x" * 5000, "y", size=100))) <= 100


def test_the_same_text_and_query_give_the_same_snippet() -> None:
    text = "tide moon " * 200
    assert len({snippet(text, "moon tide", size=60) for _ in range(5)}) == 1


@given(st.text(max_size=400), st.text(min_size=1, max_size=30), st.integers(20, 200))
def test_any_text_gives_a_snippet_within_bounds(text: str, query: str, size: int) -> None:
    cut = snippet(text, query, size=size, language=None)
    assert len(plain(cut)) <= size
    assert cut.count(MARK_START) == cut.count(MARK_END)
    assert "\n" not in cut
