from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.domain.query import QueryClass
from armillary_core.text.language import Script
from armillary_core.text.query import Question, classify, is_small_word, read_question
from armillary_core.text.tokens import query_terms


def read(text: str) -> Question:
    return read_question(text, max_chars=1000)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("  tides \t and\nmoons ", "tides and moons"),
        ("ti\x00de\x1b[31m", "ti de [31m"),
        ("half \ud83d emoji", "half emoji"),
        ("line\u2028separator", "line separator"),
        ("zero\u200bwidth stays a word apart or not", "zero\u200bwidth stays a word apart or not"),
    ],
)
def test_what_cannot_be_typed_is_not_searched(typed: str, expected: str) -> None:
    assert read(typed).text == expected


def test_a_long_query_is_cut_at_a_word_and_says_so() -> None:
    question = read_question("tide " * 300, max_chars=42)
    assert question.text == "tide tide tide tide tide tide tide tide"
    assert question.is_cut


def test_one_endless_word_is_cut_all_the_same() -> None:
    question = read_question("x" * 5000, max_chars=100)
    assert len(question.text) == 100
    assert question.is_cut


def test_white_space_alone_does_not_make_a_query_long() -> None:
    assert not read_question("tide" + " " * 500 + "moon", max_chars=1000).is_cut


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('rotate "backup keys" now', ("backup keys",)),
        ("«приливы и луна» или “spring tide”", ("приливы и луна", "spring tide")),
        ('an unpaired " stays a character', ()),
        ('5" disk and 3" disk', ()),
        ('""', ()),
        ('"a b" "a b"', ("a b",)),
    ],
)
def test_phrases_are_what_stands_in_quotes(text: str, phrases: tuple[str, ...]) -> None:
    assert read(text).phrases == phrases


@pytest.mark.parametrize("text", ["", " ", "?!…", "--", '""', "\x00", "…/…"])
def test_punctuation_alone_is_blank(text: str) -> None:
    assert read(text).is_blank


@pytest.mark.parametrize("text", ["a", "7", "猫", "🌊", "ё", "C#"])
def test_one_letter_digit_or_symbol_is_something_to_look_for(text: str) -> None:
    assert not read(text).is_blank


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("spring tides", Script.LATIN),
        ("весенние приливы", Script.CYRILLIC),
        ("潮汐表", Script.HAN),
        ("42", Script.NONE),
    ],
)
def test_the_script_is_told(text: str, script: Script) -> None:
    assert read(text).script is script


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("getUserById", QueryClass.IDENTIFIER),
        ("git --dry-run", QueryClass.IDENTIFIER),
        ("snake_case_name", QueryClass.IDENTIFIER),
        ("v1.2.3", QueryClass.IDENTIFIER),
        ("src/app/main.py", QueryClass.IDENTIFIER),
        ("E0277", QueryClass.IDENTIFIER),
        ("C#", QueryClass.IDENTIFIER),
        ("TypeError: 'NoneType' object is not iterable", QueryClass.ERROR_TEXT),
        ("error[E0277]: the trait bound is not satisfied", QueryClass.ERROR_TEXT),
        ("bash: foo: command not found", QueryClass.ERROR_TEXT),
        ("Traceback (most recent call last)", QueryClass.ERROR_TEXT),
        ("rsync: connection unexpectedly closed (0 bytes received so far)", QueryClass.ERROR_TEXT),
        ("fatal: not a git repository", QueryClass.ERROR_TEXT),
        ("connect ECONNREFUSED 127.0.0.1:5432", QueryClass.ERROR_TEXT),
        ("ошибка: файл не найден", QueryClass.ERROR_TEXT),
        ("backup", QueryClass.NAVIGATIONAL),
        ("release notes", QueryClass.NAVIGATIONAL),
        ("журнал изменений", QueryClass.NAVIGATIONAL),
        ("how do we rotate the backup keys?", QueryClass.QUESTION),
        ("what is snake_case", QueryClass.QUESTION),
        ("rotate keys?", QueryClass.QUESTION),
        ("как настроить резервное копирование", QueryClass.QUESTION),
        ("remove a directory and everything below it", QueryClass.QUESTION),
        ("change the errorlevel of a warning light", QueryClass.QUESTION),
    ],
)
def test_queries_are_told_apart(text: str, kind: QueryClass) -> None:
    question = read(text)
    assert classify(question, query_terms(question.text, ["en", "ru"])) is kind


def test_small_words_hold_sentences_together() -> None:
    assert is_small_word("the")
    assert not is_small_word("tide")


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_told_apart(text: str) -> None:
    question = read_question(text, max_chars=100)
    assert len(question.text) <= 100
    assert question.text == question.text.encode("utf-8").decode("utf-8").strip()
    assert classify(question, query_terms(question.text, ["en"])) in QueryClass
