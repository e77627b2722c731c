from __future__ import annotations

import hashlib
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from armillary_core.domain.chunk import Chunk
from armillary_core.text.chunking import MAX_BYTES, MAX_CHARS, breadcrumb_of, chunk_document
from armillary_core.text.outline import Heading, chapters_from_headings, chapters_from_paragraphs
from armillary_core.text.tokens import count_tokens, token_id


def chunks_of(text: str, headings: list[Heading] | None = None, title: str | None = "Page") -> tuple[Chunk, ...]:
    chapters = chapters_from_headings(text, headings or [])
    return chunk_document(text, chapters, title=title, language="en").chunks


def assert_whole(text: str, chunks: tuple[Chunk, ...]) -> None:
    """Every character that is not white space is in a chunk; no chunk is too large or goes backwards."""
    reached = 0
    for ordinal, chunk in enumerate(chunks):
        body = text[chunk.start : chunk.end]
        assert chunk.ordinal == ordinal
        assert body.strip()
        assert len(body) <= MAX_CHARS
        assert len(body.encode()) <= MAX_BYTES
        assert not text[reached : chunk.start].strip()
        assert chunk.end > reached
        assert (chunk.spans[0].start, chunk.spans[-1].end) == (chunk.start, chunk.end)
        reached = chunk.end
    assert not text[reached:].strip()


def test_a_small_document_is_one_chunk() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n"
    (chunk,) = chunks_of(text, [Heading(1, 1, "A"), Heading(5, 2, "B"), Heading(9, 2, "C")])
    assert [(span.chapter, text[span.start : span.end]) for span in chunk.spans] == [
        (0, "# A\n\none"),
        (1, "## B\n\ntwo"),
        (2, "## C\n\nthree"),
    ]
    assert chunk.breadcrumb == "Page > A"


def test_chapters_are_packed_in_order_until_the_limit() -> None:
    part = "word " * 100
    text = "".join(f"# H{number}\n{part}\n" for number in range(5))
    chunks = chunks_of(text, [Heading(number * 2 + 1, 1, f"H{number}") for number in range(5)])
    assert [[span.chapter for span in chunk.spans] for chunk in chunks] == [[0, 1], [2, 3], [4]]
    assert [chunk.breadcrumb for chunk in chunks] == ["Page", "Page", "Page > H4"]


def test_the_breadcrumb_says_a_title_once() -> None:
    assert breadcrumb_of("Guide", ("Guide", "Install")) == "Guide > Install"
    assert breadcrumb_of("Guide", ()) == "Guide"
    assert breadcrumb_of(None, ("A", "B")) == "A > B"


def test_only_a_chapter_that_is_too_long_is_split() -> None:
    long = "A sentence of five words. " * 120
    text = f"# Short\nfew words\n# Long\n{long}\n# End\nthe end\n"
    chunks = chunks_of(text, [Heading(1, 1, "Short"), Heading(3, 1, "Long"), Heading(5, 1, "End")])
    assert_whole(text, chunks)
    assert [span.chapter for span in chunks[0].spans] == [0]
    assert all(span.chapter == 1 for chunk in chunks[1:-1] for span in chunk.spans)
    assert chunks[-1].spans[-1].chapter == 2


def test_pieces_of_a_chapter_overlap_and_end_at_sentences() -> None:
    text = "".join(f"Sentence number {number} says something. " for number in range(120))
    chunks = chunks_of(text)
    assert_whole(text, chunks)
    for before, after in itertools.pairwise(chunks):
        assert 0 < before.end - after.start <= MAX_CHARS * 0.16
        assert text[before.start : before.end].endswith(".")
        assert text[after.start : after.end].startswith("Sentence")


def test_nothing_overlaps_across_chapters() -> None:
    part = "word " * 200
    text = f"# A\n{part}\n# B\n{part}\n"
    first, second = chunks_of(text, [Heading(1, 1, "A"), Heading(3, 1, "B")])
    assert first.end <= second.start


def test_fences_and_tables_stay_whole_where_they_fit() -> None:
    fence = "```python\n" + "x = call(argument)\n\n" * 25 + "```"
    table = "\n".join(f"| row {number} | value {number} |" for number in range(30))
    text = f"{'Prose here. ' * 70}\n\n{fence}\n\n{'More prose. ' * 60}\n\n{table}\n\n{'The end. ' * 40}\n"
    chunks = chunks_of(text)
    assert_whole(text, chunks)
    assert any(fence in text[chunk.start : chunk.end] for chunk in chunks)
    assert any(table in text[chunk.start : chunk.end] for chunk in chunks)


def test_a_short_tail_is_not_a_repetition() -> None:
    text = "word " * 245
    chunks = chunks_of(text)
    assert len(chunks) == 2
    assert chunks[1].end > chunks[0].end


def test_tokens_are_those_of_breadcrumb_and_text() -> None:
    (chunk,) = chunks_of("# Install\n\nRun it.\n", [Heading(1, 1, "Install")], title="Manual")
    assert chunk.terms == count_tokens("Manual > Install\n# Install\n\nRun it.", "en").terms
    assert chunk.text_hash == hashlib.sha256(b"Manual > Install\n# Install\n\nRun it.").hexdigest()


def test_what_is_blanked_out_is_not_counted() -> None:
    text = "<Card>\n\nneedle\n"
    chapters = chapters_from_paragraphs(text)
    blanked = chunk_document(text, chapters, title=None, language=None, indexed="      \n\nneedle\n")
    assert token_id("card") not in blanked.words
    assert token_id("needl") in blanked.words


def test_the_tail_of_a_long_document_is_there() -> None:
    words = [f"filler{number % 997}" for number in range(130_000)]
    needles = (10, 5_900, 65_530, 65_540, 100_000, 129_990)
    for at in needles:
        words[at] = f"needle{at}"
    body = "\n\n".join(" ".join(words[at : at + 90]) for at in range(0, len(words), 90))
    text = f"# One heading\n\n{body}\n"
    chunks = chunks_of(text, [Heading(1, 1, "One heading")])
    assert_whole(text, chunks)
    for at in needles:
        assert any(token_id(f"needle{at}") in chunk.terms.ids for chunk in chunks)


def test_pieces_without_spaces_are_bounded_and_what_follows_is_found() -> None:
    blobs = {
        "base64": "QUJDRA+/" * 5_000,
        "chinese": "数据库连接和用户权限管理" * 250,
        "table": "| " + " | ".join(f"column{number}" for number in range(400)) + " |",
        "json": '{"a":[' + ",".join(f'{{"id":{number},"v":"x"}}' for number in range(20_000)) + "]}",
        "emoji": "👩🏽‍💻" * 500,
        "fence": "```\n" + "line of code\n" * 5_000 + "```",
    }
    for name, blob in blobs.items():
        text = f"{blob}\n\nThe needle_{name} is here.\n"
        chunks = chunks_of(text)
        assert_whole(text, chunks)
        assert any(token_id(f"needle_{name}") in chunk.terms.ids for chunk in chunks), name


def test_text_without_spaces_is_cut_at_signs() -> None:
    text = ",".join(["abcdefghi"] * 400)
    chunks = chunks_of(text)
    assert_whole(text, chunks)
    assert all(text[chunk.start : chunk.end].endswith(",") for chunk in chunks[:-1])


def test_a_block_begins_a_chunk_rather_than_being_torn() -> None:
    fence = "```\n" + "line of code\n" * 60 + "```"
    text = f"{'Short lead of some words. ' * 22}\n\n{fence}\n\n{'After. ' * 100}"
    chunks = chunks_of(text)
    assert_whole(text, chunks)
    assert any(
        text[chunk.start :].startswith("```\nline") and fence in text[chunk.start : chunk.end] for chunk in chunks
    )


def test_a_desert_of_spaces_makes_no_chunks() -> None:
    text = "oasis" + " " * 100_000 + "needle" + "\t" * 5_000
    chunks = chunks_of(text)
    assert_whole(text, chunks)
    assert len(chunks) == 2


def test_a_joined_emoji_is_not_torn() -> None:
    text = "👩🏽‍💻" * 500
    chunks = chunks_of(text)
    assert all(text[chunk.start] == "👩" for chunk in chunks[:1])
    assert all(text[chunk.end - 1] == "💻" for chunk in chunks)


_BITS = st.sampled_from(
    [
        *(
            "word ",
            "Sentence. ",
            "\n",
            "\n\n",
            "日本語。",
            "👩🏽‍💻",
            " ",
            "\t",
            " " * 700,
            "e\u0301",
            "a,b,",
            "x" * 300,
        ),
        *("```\ncode\n\nmore\n```\n", "~~~\n", "    code\n", "- item\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_BITS, max_size=400))
def test_every_character_of_any_text_is_in_a_chunk(bits: list[str]) -> None:
    text = "".join(bits)
    for chapters in (chapters_from_headings(text, []), chapters_from_paragraphs(text)):
        assert_whole(text, chunk_document(text, chapters, title="T", language=None).chunks)
