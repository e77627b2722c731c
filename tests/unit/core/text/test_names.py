from __future__ import annotations

import pytest

from armillary_core.text.names import fold_name, has_name, name_units, name_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Getting Started", "getting   started"),
        ("Größe", "GROSSE"),
        ("Ёлка", "елка"),
        ("Café", "cafe\u0301"),
        ("`getUserById()`", "getUserById"),
        ("«Война и мир»", "война и мир"),
        ("How do I install it?", "how do i install it"),
        ("ﬁle", "file"),
    ],
)
def test_two_spellings_of_a_whole_name_are_one(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other)


@pytest.mark.parametrize(("one", "other"), [("a-b.md", "a_b.md"), ("C", "C#"), ("мой", "мои"), ("C", "C++")])
def test_two_names_stay_two(one: str, other: str) -> None:
    assert fold_name(one) != fold_name(other)


def test_a_name_of_punctuation_alone_keeps_it() -> None:
    assert fold_name("...") != ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("HTTPServer2", ["http", "server2"]),
        ("snake_case-and.dots", ["snake", "case", "and", "dots"]),
        ("parse URLs", ["parse", "urls"]),
        ("parseURLs", ["parse", "urls"]),
        ("E0277", ["e0277"]),
        ("C# and C++", ["c#", "and", "c++"]),
        ("#hash heading", ["hash", "heading"]),
        ("Über Straßen", ["uber", "strassen"]),
        ("データ v2", ["デー", "ータ", "v2"]),
        ("圧", ["圧"]),
        ("Mixed日本語text", ["mixed", "日本", "本語", "text"]),
        ("ЗагрузчикФайлов", ["загрузчик", "файлов"]),
        ("", []),
        ("!?", []),
    ],
)
def test_a_name_is_split_into_words(name: str, words: list[str]) -> None:
    assert name_words(name) == words


def test_an_identifier_is_known_whole_as_well() -> None:
    (unit,) = name_units("getUserById")
    assert unit.whole == "getuserbyid"
    assert unit.letters == 11
    (plain,) = name_units("word")
    assert plain.whole is None


def test_a_blob_has_no_whole() -> None:
    (unit,) = name_units("_".join(["part"] * 50))
    assert unit.whole is None
    (unit,) = name_units("x" * 5000)
    assert len(unit.parts[0]) <= 60


@pytest.mark.parametrize(
    ("text", "expected"), [("a", True), ("中", True), ("🚀", True), ("", False), (" .;'", False), ("()", False)]
)
def test_whether_there_is_anything_to_look_for(text: str, expected: bool) -> None:
    assert has_name(text) is expected
