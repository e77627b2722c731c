from __future__ import annotations

from armillary_core.adapters.formats.html import HtmlExtractor
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile


def extract(page: str | bytes) -> ExtractedText:
    return HtmlExtractor().extract(SourceFile("a.html", page.encode() if isinstance(page, str) else page))


def test_what_nobody_reads_is_dropped() -> None:
    page = extract(
        "<html><head><style>a{}</style><script>scriptword</script></head><body><nav>navword</nav>"
        "<h1>Title</h1><p>kept &amp; shown</p><!-- commentword --><aside>asideword</aside><p hidden>hiddenword</p>"
        "<div style='display: none'>noneword</div><footer>footword</footer><noscript>nsword</noscript></body></html>"
    )
    assert page.text == "# Title\n\nkept & shown\n"


def test_structure_is_kept() -> None:
    page = extract(
        "<h1>A</h1><ul><li>one<li>two</ul><table><tr><th>x<th>y<tr><td>1<td>2</table><pre>  keep   spaces\n# no</pre>"
        "<h2>B <a href='#b'>¶</a></h2><p># not a heading</p>"
    )
    assert [(chapter.name, chapter.level) for chapter in page.chapters] == [("A", 1), ("B", 2)]
    assert "- one\n- two" in page.text
    assert "| x | y |" in page.text
    assert "  keep   spaces\n# no" in page.text


def test_the_head_tells_title_language_and_summary() -> None:
    page = extract(
        "<html lang='de-CH'><head><title> Der  Titel </title><meta name=keywords content='a, b'>"
        "<meta name=description content='Kurz.'></head><body><h1>Anders</h1></body></html>"
    )
    assert (page.title, page.locale, page.language) == ("Der Titel", "de-CH", "de")
    assert (page.base.summary, page.base.keywords) == ("Kurz.", ("a", "b"))


def test_the_charset_of_the_page_is_believed() -> None:
    page = extract("<meta charset=koi8-r><p>цена</p>".encode("koi8-r"))
    assert (page.text, page.charset) == ("цена\n", "koi8-r")


def test_embedded_images_are_no_text() -> None:
    page = extract(f"<p>word</p><img alt='a chart' src='data:image/png;base64,{'A' * 5000}'>")
    assert len(page.text) < 100


def test_pages_without_structure_and_broken_ones_are_read() -> None:
    assert extract("just words").text == "just words\n"
    assert "b" in extract("<div><p>a<table><td>b</div><h1>c").text
    assert extract("<div>" * 3_000 + "deep").text.strip() == "deep"
    assert extract("   ").chapters == ()
