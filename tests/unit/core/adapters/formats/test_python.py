from __future__ import annotations

import pytest

from armillary_core.adapters.formats.python import PythonExtractor
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile

SOURCE = '''\
#!/usr/bin/env python
"""Module doc.

More.
"""
import os

CONST = 1


# about first
@decorator
@another(
    1
)
def first(a):
    """First doc."""

    def inner():
        pass

    return inner


async def second():
    pass


class Third(Base):
    """Third doc."""

    field = 1

    def method(self):
        return 1

    late = 2

    class Inner:
        def method(self):
            pass

    def method(self):
        return 2


if os.name == "nt":

    def only_here():
        pass

if __name__ == "__main__":
    first(1)
'''


def extract(source: str | bytes) -> ExtractedText:
    return PythonExtractor().extract(SourceFile("m.py", source.encode() if isinstance(source, str) else source))


def test_definitions_are_chapters_with_their_decorators_and_comments() -> None:
    found = [(chapter.anchor, chapter.kind, chapter.start_line) for chapter in extract(SOURCE).chapters]
    assert found == [
        ("_preamble", ChapterKind.MODULE, 1),
        ("first", ChapterKind.FUNCTION, 11),
        ("second", ChapterKind.FUNCTION, 25),
        ("Third", ChapterKind.CLASS, 29),
        ("Third.method", ChapterKind.METHOD, 34),
        ("Third-1", ChapterKind.CLASS, 37),
        ("Third.Inner", ChapterKind.CLASS, 39),
        ("Third.Inner.method", ChapterKind.METHOD, 40),
        ("Third.method-1", ChapterKind.METHOD, 43),
        ("L47", ChapterKind.MODULE, 47),
        ("only_here", ChapterKind.FUNCTION, 49),
        ("L52", ChapterKind.MODULE, 52),
    ]


def test_the_docstring_is_the_summary_and_definitions_the_headings() -> None:
    base = extract(SOURCE).base
    assert base.summary == "Module doc."
    assert base.headings[:4] == ("first", "second", "Third", "Third.method")


@pytest.mark.parametrize("source", ["def broken(:\n    pass\n", "x = '''\n", "print 'old'\n", "(" * 500 + "\n"])
def test_source_that_does_not_parse_is_plain_text(source: str) -> None:
    text = extract(f"def ok():\n    return 1\n\n{source}")
    assert text.note is not None
    assert "not valid Python" in text.note
    assert {chapter.kind for chapter in text.chapters} == {ChapterKind.PARAGRAPH}


def test_doubtful_escapes_are_no_warnings() -> None:
    assert extract("x = '\\d'\n").note is None


def test_a_coding_line_is_believed() -> None:
    text = extract("# -*- coding: koi8-r -*-\nслово = 'ё'\n".encode("koi8-r"))
    assert (text.charset, "слово" in text.text) == ("koi8-r", True)


def test_module_code_alone_is_one_chapter() -> None:
    (chapter,) = extract("x = 1\ny = 2\n").chapters
    assert (chapter.anchor, chapter.kind) == ("_preamble", ChapterKind.MODULE)
