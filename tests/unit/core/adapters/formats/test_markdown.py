from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from armillary_core.adapters.formats.markdown import MarkdownExtractor
from armillary_core.adapters.formats.markdown_outline import markdown_headings
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile

AWKWARD = """\
````md
```
# inside four backticks
```
# still inside
````

~~~
# tilde fence
```
# not closed by backticks
~~~

    # indented code

Setext one
==========

Setext two
of two lines
---

## C#

## F# ##

##

#no-space

####### seven

- # in a list

> ## in a quote

<!--
# in a comment
-->

<pre>
# in raw HTML
</pre>

a | b
--|--
# | 1

Text
# interrupts a paragraph

[ref]: /url
# after a reference

# Same
# Same

## `code` and *emph* [link](x.md) &amp; ![alt](y.png) <b>bold</b> \\*

1. item

   ### in an item

   ```
   # in an item's fence
   ```

```
# unclosed to the end
"""


def extract(text: str, name: str = "page.md") -> ExtractedText:
    return MarkdownExtractor().extract(SourceFile(name, text.encode()))


def reference(text: str) -> list[tuple[int, int, str]]:
    """Line, level and raw words of every heading, as a CommonMark parser sees them."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (token.map[0] + 1, int(token.tag[1]), tokens[number + 1].content)
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    ]


def lines_of(text: str) -> list[tuple[int, int]]:
    return [(heading.line, heading.level) for heading in markdown_headings(text)]


def test_headings_are_those_of_a_reference_parser() -> None:
    assert lines_of(AWKWARD) == [(line, level) for line, level, _ in reference(AWKWARD)]
    names = [heading.name for heading in markdown_headings(AWKWARD)]
    assert names == [
        "Setext one",
        "Setext two of two lines",
        "C#",
        "F#",
        "",
        "in a list",
        "in a quote",
        "| 1",
        "interrupts a paragraph",
        "after a reference",
        "Same",
        "Same",
        "code and emph link & alt bold *",
        "in an item",
    ]


_LINES = st.sampled_from(
    [
        *(
            "# One",
            "## Two ##",
            "##",
            "#tag",
            "   ### Three",
            "    # four",
            "\t# tab",
            "text",
            "",
            "",
            "- item",
            "- # item",
        ),
        *("> quote", "> # quote", "===", "---", "- ", "-", "```", "```sh", "~~~", "````", "   ```", "``` a`b", "<b>"),
        *("<!-- x -->", "<!--", "-->", "<https://a.b>", "1. one", "   more", "1) # x", "* * *", "| a |", "|---|"),
        *("[a]: /b", "  ---", "> ---", "### a # b", "# a\\#", "#", "# #", "## ## ##", "#\ttab", "- ```", "  ~~~"),
        *("<pre>", "</pre>", "***", "+ x", "  # two"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_LINES, max_size=25))
def test_headings_of_any_page_are_those_of_a_reference_parser(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert lines_of(text) == [(line, level) for line, level, _ in reference(text)]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="#`~-= \n\t>a<!", max_size=80))
def test_headings_of_any_characters_are_those_of_a_reference_parser(text: str) -> None:
    assert lines_of(text) == [(line, level) for line, level, _ in reference(text)]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Trailing hash in C#", "Trailing hash in C#"),
        ("`code` and *emph* [link](x.md)", "code and emph link"),
        ("snake_case and `__init__.py`", "snake_case and __init__.py"),
        ("A \\* B &amp; C", "A * B & C"),
        ("Badge <Badge text='new' />", "Badge"),
        ("Title {#custom}", "Title"),
        ("{% icon %} Title", "Title"),
        ("![logo](x.png) Name", "logo Name"),
        ("2 < 3 > 1", "2 < 3 > 1"),
        ("x" * 400, "x" * 400),
    ],
)
def test_a_heading_reads_as_a_reader_sees_it(raw: str, name: str) -> None:
    (heading,) = markdown_headings(f"# {raw}\n")
    assert heading.name == name


def test_an_anchor_of_its_own_is_kept() -> None:
    (chapter,) = extract("# Title {#custom-id}\n").chapters
    assert chapter.anchor == "custom-id"


def test_front_matter_is_read_and_is_no_heading() -> None:
    page = extract(
        '---\ntitle: "Front: matter"\nsummary: About it.\nkeywords: a, b\nupdated: 2026-01-02\ntype: howto\n'
        "version: 1.20\nlocale: de-AT\n# comment\n---\n\n# Real\n\nbody\n"
    )
    assert (page.title, page.locale, page.language, page.version) == ("Front: matter", "de-AT", "de", "1.2")
    assert (page.base.summary, page.base.keywords, page.base.date, page.base.type) == (
        "About it.",
        ("a", "b"),
        "2026-01-02",
        "howto",
    )
    assert [(chapter.anchor, chapter.start_line) for chapter in page.chapters] == [("_preamble", 1), ("real", 12)]
    assert page.note is None


@pytest.mark.parametrize(
    "front",
    ["---\ntitle: [unclosed\n---\n", "+++\ntitle = \n+++\n", "---\na: !!python/object/apply:os.system [x]\n---\n"],
)
def test_broken_front_matter_stays_text_and_is_told(front: str) -> None:
    page = extract(f"{front}# After\n\nbody\n")
    assert page.title == "After"
    assert page.text.startswith(front)
    assert page.note is not None
    assert "front matter" in page.note
    assert [chapter.name for chapter in page.chapters] == ["", "After"]


@pytest.mark.parametrize("text", ["---\nnot closed\n\n# A\n", "---\n\n# A\n\n---\n", "----\ntitle: x\n----\n# A\n"])
def test_a_rule_is_no_front_matter(text: str) -> None:
    page = extract(text)
    assert page.title == "A"
    assert page.note is None


def test_toml_front_matter_is_read() -> None:
    page = extract('+++\ntitle = "Toml"\ndate = 2026-02-03\ntags = ["x"]\n+++\n# A\n')
    assert (page.title, page.base.date, page.base.keywords) == ("Toml", "2026-02-03", ("x",))


def test_lines_are_those_of_an_editor_whatever_ends_them() -> None:
    for end in ("\n", "\r\n", "\r"):
        page = MarkdownExtractor().extract(SourceFile("a.md", f"\ufeff# A{end}{end}x{end}{end}## B{end}y".encode()))
        assert [(chapter.name, chapter.start_line, chapter.end_line) for chapter in page.chapters] == [
            ("A", 1, 4),
            ("B", 5, 6),
        ]


def test_jsx_is_read_through_and_hides_nothing() -> None:
    page = extract(
        "import X from './x'\nexport const meta = {\n  a: '# no'\n}\n\n"
        "<Tabs>\n<Tab>\n## Inside\n\ntext\n\n</Tab></Tabs>\n"
        "{/* ## no */}\n\n<!-- ## no -->\n\n```jsx\n# no\n```\n",
        "page.mdx",
    )
    assert [chapter.name for chapter in page.chapters] == ["", "Inside"]
    assert page.chapters[1].start_line == 8


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\n> Archiving utility.\n> More: <https://a.b/c>.\n\n- x\n", "Archiving utility. More: https://a.b/c."),
        ("# T\n\n[![badge](b.svg)](x)\n\nThe **real** [text](y) with `code`.\n", "The real text with code."),
        ("# T\n\n```sh\nnot this\n\nnor this\n```\n\n| a | b |\n|--|--|\n\nBut this.\n", "But this."),
        ("Title\n=====\n\nSetext first.\n", "Setext first."),
        ("# Only a heading\n", None),
        ("## A\ntext right below\n", "text right below"),
    ],
)
def test_the_first_paragraph_is_the_summary_in_plain_words(text: str, summary: str | None) -> None:
    assert extract(text).base.summary == summary


def test_a_long_summary_is_cut_at_a_word() -> None:
    summary = extract("word " * 200).base.summary
    assert summary is not None
    assert len(summary) <= 300
    assert summary.endswith("word…")


def test_many_headings_are_all_chapters() -> None:
    page = extract("".join(f"## Heading {number}\ntext\n" for number in range(5_000)))
    assert len(page.chapters) == 5_000
    assert len(page.base.headings) == 200


def test_a_large_page_is_read_in_bounded_time() -> None:
    section = (
        "## Section\n\n" + "some words in a line of text\n" * 30 + "\n```\n# code\n```\n\n- item\n  ```\n  x\n  ```\n\n"
    )
    text = section * 1_000
    started = time.process_time()
    assert len(extract(text).chapters) == 1_000
    assert time.process_time() - started < 4  # about 1 MB, the parser's way
