"""The extractor contract: every format that is listed has a sample, and every sample keeps the promises."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from armillary_core.bootstrap.formats import EXTRACTORS
from armillary_core.ports.extractor import SourceFile
from armillary_core.text.sniff import sniff

CORPUS = Path(__file__).parents[4] / "corpus"
EXPECTED: dict[str, tuple[str, str | None, list[str]]] = {  # media type, title, anchors
    "guide.md": ("text/markdown", "Harbour guide", ["_preamble", "coming-in", "by-day", "by-night"]),
    "page.mdx": ("text/mdx", "Tide tables", ["_preamble", "reading-a-table"]),
    "chapter.rst": ("text/x-rst", "Winter berths", ["winter-berths", "lifting-out", "papers"]),
    "manual.adoc": ("text/asciidoc", "Crane manual", ["crane-manual", "daily-check"]),
    "notes.org": ("text/org", "Meeting notes", ["_preamble", "dredging", "ask-for-offers"]),
    "tides.py": ("text/x-python", None, ["_preamble", "height_at", "Station", "Station.read"]),
    "settings.yaml": ("application/yaml", None, ["harbour", "lights"]),
    "project.toml": ("application/toml", None, ["crane", "office"]),
    "data.json": ("application/json", None, ["berths", "crane"]),
    "office.ini": ("text/x-ini", None, ["office", "crane"]),
    "page.html": ("text/html", "Visitors", ["visitors", "fees"]),
    "report.pdf": ("application/pdf", "Weather report", ["page-1", "page-2"]),
    "letter.docx": (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "Letter to guests",
        ["fees", "guests"],
    ),
    "hours.txt": ("text/plain", None, ["L1", "L3"]),
    "NOTES": ("text/plain", None, ["L1", "L3"]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_is_read_with_its_outline(name: str) -> None:
    media_type, title, anchors = EXPECTED[name]
    content = (CORPUS / name).read_bytes()
    assert sniff(name, content).media_type == media_type
    text = EXTRACTORS[media_type].extract(SourceFile(name, content))
    assert (text.title, [chapter.anchor for chapter in text.chapters]) == (title, anchors)
    assert "\r" not in text.text
    assert text.chapters[0].start == 0
    assert text.chapters[-1].end == len(text.text)
    for before, after in itertools.pairwise(text.chapters):
        assert before.end == after.start


def test_every_listed_format_has_a_sample() -> None:
    assert set(EXTRACTORS) == {media_type for media_type, _, _ in EXPECTED.values()}


@pytest.mark.parametrize("media_type", EXTRACTORS)
def test_an_empty_file_is_empty_or_refused_in_words(media_type: str) -> None:
    from armillary_core.domain.errors import UnreadableSourceError

    try:
        text = EXTRACTORS[media_type].extract(SourceFile("empty", b""))
    except UnreadableSourceError as refused:
        assert refused.message == "empty file"
    else:
        assert (text.text, text.chapters) == ("", ())


def test_cards_of_samples_hold_what_the_format_tells() -> None:
    def base(name: str):  # type: ignore[no-untyped-def] # a base layer
        return EXTRACTORS[EXPECTED[name][0]].extract(SourceFile(name, (CORPUS / name).read_bytes())).base

    assert base("guide.md").summary == "How boats come in and go out."
    assert base("guide.md").keywords == ("harbour", "tide")
    assert base("guide.md").date == "2026-03-04"
    assert base("chapter.rst").summary == "Boats stay on land from November to March."
    assert base("manual.adoc").summary == "How to use the harbour crane."
    assert base("notes.org").date == "2026-02-01"
    assert base("tides.py").summary == "Tides by harmonic constants."
    assert base("page.html").summary == "For guests of the harbour."
    assert base("report.pdf").headings == ("Wind", "Tide")
    assert base("report.pdf").date == "2026-03-04"
    assert base("letter.docx").keywords == ("harbour", "tide")
    assert base("hours.txt").summary == "Порт открыт с восьми часов."
