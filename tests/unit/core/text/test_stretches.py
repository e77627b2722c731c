from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.text.matches import Finder
from armillary_core.text.stretches import Stretch, choose_stretch, signature
from armillary_core.text.tokens import query_terms

FILLER = "Nothing to see in this paragraph at all.\n\n"


def choose(text: str, query: str, *, size: int = 200) -> Stretch:
    found = Finder({token: 1.0 for term in query_terms(query, ["en"]) for token in term.tokens})
    matches = found.find(text, 0, len(text), language="en")
    return choose_stretch(text, 0, len(text), matches, size=size, weights=found.weights)


def shown(text: str, stretch: Stretch) -> str:
    return text[stretch.start : stretch.end]


def test_a_short_text_is_shown_whole_without_the_blank_lines_around_it() -> None:
    text = "\n\nThe tide turns.\n\n"
    assert shown(text, choose(text, "tide")) == "The tide turns."


def test_the_paragraph_that_holds_most_is_shown_whole() -> None:
    wanted = "Spring tides come with the full moon,\nand with the new one."
    text = FILLER * 20 + wanted + "\n\n" + FILLER * 20
    piece = shown(text, choose(text, "tide moon"))
    assert wanted in piece
    assert len(piece) <= 200
    assert piece.startswith(("Spring", "Nothing to see"))


def test_what_room_is_left_goes_to_what_follows() -> None:
    text = FILLER * 5 + "The tide.\n\n" + "After one.\n\n" + FILLER * 20
    piece = shown(text, choose(text, "tide", size=60))
    assert piece.startswith("The tide.")
    assert "After one." in piece


def test_without_matches_the_beginning_is_shown() -> None:
    text = "First.\n\n" + FILLER * 20
    assert shown(text, choose(text, "absent")).startswith("First.")


def test_a_list_item_is_whole() -> None:
    items = "".join(f"- item number {number} about\n  nothing much\n" for number in range(30))
    text = items + "- the tide item goes on\n  in its second line\n" + items
    piece = shown(text, choose(text, "tide", size=120))
    assert "- the tide item goes on\n  in its second line" in piece
    assert piece.startswith("- ")


def test_a_fence_that_fits_is_whole() -> None:
    fence = "```sh\nmake tide\n\n# blank lines inside\nmake moon\n```"
    text = FILLER * 10 + fence + "\n\n" + FILLER * 10
    assert fence in shown(text, choose(text, "tide", size=200))


def test_a_table_row_comes_with_its_header() -> None:
    rows = "".join(f"| port{number} | {number} m |\n" for number in range(60))
    text = "| place | height |\n|---|---|\n" + rows + "| brest | 7 m |\n" + rows
    stretch = choose(text, "brest", size=120)
    assert "| brest | 7 m |" in shown(text, stretch)
    assert stretch.lead == "| place | height |\n|---|---|"
    assert shown(text, stretch).startswith("| ")


def test_rows_without_a_header_have_no_lead() -> None:
    text = "".join(f"| port{number} |\n" for number in range(100))
    assert choose(text, "port70", size=100).lead == ""


def test_one_endless_line_is_cut() -> None:
    text = "word " * 1000 + "tide " + "word " * 1000
    piece = shown(text, choose(text, "tide", size=200))
    assert "tide" in piece
    assert len(piece) <= 200


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def turn(tide: str) -> None:\n    pass\n", "def turn(tide: str) -> None:"),
        ("@cache\ndef turn(\n    tide,\n):\n    pass\n", "@cache\ndef turn(\n    tide,\n):"),
        ("function turn() {\n  return 1;\n}\n", "function turn() {"),
        ("no end in sight\n" * 20, "no end in sight"),
    ],
)
def test_a_signature_ends_where_the_body_begins(source: str, expected: str) -> None:
    assert signature(source, 0, len(source)) == expected


@given(st.text(alphabet="ab \n|-`#.\u00e9", max_size=600), st.integers(20, 200))
def test_a_stretch_lies_in_its_text_and_is_about_as_long_as_asked(text: str, size: int) -> None:
    stretch = choose(text, "ab", size=size)
    assert 0 <= stretch.start <= stretch.end <= len(text)
    assert stretch.end - stretch.start <= max(size, 80)
