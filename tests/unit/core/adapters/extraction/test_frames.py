from __future__ import annotations

from array import array

from armillary_core.adapters.extraction.frames import HEADER, Results, pack, unpack
from armillary_core.domain.chunk import Chunk, ChunkSpan, TermCounts
from armillary_core.domain.document import FileStamp
from armillary_core.domain.ingest import ExtractedText, Failed, Indexed, NameOnly
from armillary_core.ports.extraction import Extracted, ExtractionTask, Unchanged
from armillary_core.text.outline import Heading, chapters_from_headings


def test_what_is_sent_arrives() -> None:
    stamp = FileStamp(1, 2, 3)
    terms = TermCounts(array("I", [1, 2**32 - 1]), array("H", [1, 65_535]))
    text = "# Ä\n\ud83d\ude80 surrogate \udcff\n"
    indexed = Indexed(
        "00",
        stamp,
        "text/markdown",
        ExtractedText(text, chapters_from_headings(text, [Heading(1, 1, "Ä")]), title="\udcff"),
        "de",
        2,
        (Chunk(0, 0, 3, (ChunkSpan(0, 0, 3),), "Ä", terms, "ff"),),
        terms,
        None,
        {1: "ä"},
    )
    task = ExtractionTask("/root\udcff", b"a\xff")
    rows = [
        Extracted(task, stamp, outcome)
        for outcome in (indexed, NameOnly("1", stamp, "image/png", "x"), Failed("no"), Unchanged(stamp, "2"))
    ]
    message = pack(Results(rows, done=True))
    assert HEADER.unpack(message[: HEADER.size]) == (len(message) - HEADER.size,)
    assert unpack(message[HEADER.size :]) == Results(rows, done=True)
