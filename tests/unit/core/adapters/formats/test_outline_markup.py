from __future__ import annotations

from armillary_core.adapters.formats.outline_markup import OutlineMarkupExtractor
from armillary_core.ports.extractor import SourceFile


def outline(text: str, name: str) -> list[tuple[int, int, str]]:
    page = OutlineMarkupExtractor().extract(SourceFile(name, text.encode()))
    return [(chapter.start_line, chapter.level, chapter.name) for chapter in page.chapters]


def test_titles_of_restructuredtext_get_levels_in_order_of_use() -> None:
    text = """\
Top
===

Text.

Inner
-----

::

   Not a title
   ===========

.. note::

   Neither
   -------

*****
Other
*****

Deep ``code`` and `link <https://a.b>`_
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

Inner again
-----------

Back
====
"""
    assert outline(text, "a.rst") == [
        (1, 1, "Top"),
        (6, 2, "Inner"),
        (19, 3, "Other"),
        (23, 4, "Deep code and link"),
        (26, 2, "Inner again"),
        (29, 1, "Back"),
    ]


def test_what_is_no_title_in_restructuredtext() -> None:
    text = """\
A paragraph
whose second line
=================

- a bullet
----------

=====  =====
col    col
=====  =====
a      b
=====  =====

------

.. comment
----------

a b c d e f
---
"""
    assert outline(text, "a.rst") == [(1, 0, "")]


def test_wide_letters_and_numbers_are_titles() -> None:
    assert outline("東京の天気\n==========\n\n1. Introduction\n===============\n", "a.rst") == [
        (1, 1, "東京の天気"),
        (4, 1, "1. Introduction"),
    ]


def test_asciidoc_titles_stand_outside_of_blocks() -> None:
    text = "= Book\n\n== One *bold*\n\n----\n== no\n----\n\n====\n== no\n====\n\n```\n== no\n```\n\n=== Two ===\n"
    assert outline(text, "a.adoc") == [(1, 1, "Book"), (3, 2, "One bold"), (17, 3, "Two")]


def test_org_headlines_lose_states_priorities_and_tags() -> None:
    text = "#+TITLE: T\n\n* TODO [#A] First :tag:other:\n** Second\n*bold* is no headline\n"
    assert outline(text, "a.org") == [(1, 0, ""), (3, 1, "First"), (4, 2, "Second")]
