from __future__ import annotations

import pytest

from armillary_core.ports.catalogue.documents import Label
from armillary_core.usecases.titles import titled


def is_titled(question: str, *, title: str | None = None, path: str = "x/0001") -> bool:
    return titled(question, {7: Label(None, title, path.encode(), None)}) == {7}


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("list old files with find", "find"),
        ("How do I amend with git commit?", "git commit"),
        ("what does getUserById return", "getUserById"),
        ("зачем нужен Ёжик", "ежик"),
    ],
)
def test_a_title_stands_in_a_question_with_all_its_words(question: str, title: str) -> None:
    assert is_titled(question, title=title)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("list old files", "find"),
        ("which commit was it", "git commit"),
        ("how to do this", "how to"),  # only little words
        ("one two three four five", "one two three four"),  # too long to be meant
        ("anything", ""),
        ("anything", None),
    ],
)
def test_a_part_of_a_title_or_little_words_name_nothing(question: str, title: str | None) -> None:
    assert not is_titled(question, title=title)


def test_a_file_name_names_its_document_unless_every_folder_has_one() -> None:
    assert is_titled("load json with a byte order mark", title="JSON encoder and decoder", path="library/json.rst")
    assert not is_titled("where is the readme of the index", path="docs/README.md")
