"""HTML pages: their content as Markdown, without scripts, styles, navigation and what is hidden."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.decoding import Decoded, decode
from armillary_core.adapters.formats.front_matter import FrontMatter
from armillary_core.adapters.formats.markdown import base_layer
from armillary_core.adapters.formats.markdown_outline import markdown_headings
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_PRUNED: Final = (
    "script, style, template, noscript, iframe, object, embed, svg, canvas, nav, footer, aside, dialog, form, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=search], [role=banner] ul, [role=contentinfo]"
)
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_PERMALINK: Final = re.compile(r"[¶#§\s\u200b]+$")
_WORDS: Final = re.compile(r"[^\W_]+")
_BLANK_RUN: Final = re.compile(r"\n{3,}")


class HtmlExtractor(Extractor):
    """The page's headings become the outline; title, language, description and keywords come from its head."""

    media_types: ClassVar[frozenset[str]] = frozenset({"text/html"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("selectolax.lexbor", "html_to_markdown")

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Raises UnreadableSourceError when the page cannot be converted."""
        import html_to_markdown
        from selectolax.lexbor import LexborHTMLParser

        decoded = _decode_page(source.content)
        if not decoded.text.strip():
            return ExtractedText("", (), charset=decoded.charset, note=decoded.note)
        tree = LexborHTMLParser(decoded.text)
        head = _head(tree)
        _prune(tree)
        expected = _headings_of(tree)
        body = tree.body
        markup = body.html if body is not None and body.html else ""
        options = html_to_markdown.ConversionOptions(extract_metadata=False, autolinks=False, skip_images=False)
        try:
            markdown = html_to_markdown.convert(markup, options).content or ""
        except Exception as exc:  # the converter raises its own errors and Rust panics alike
            raise UnreadableSourceError(f"the page could not be converted ({type(exc).__name__})") from exc
        text = _BLANK_RUN.sub("\n\n", markdown).strip("\n")
        words = body.text(separator="\n", strip=True) if body is not None else ""
        note = decoded.note
        if len(words) > 2 * len(text) + 100 or (words and not text):
            # Very deep nesting is cut off by the converter: better all words than half of the page.
            text, note = words, "; ".join(filter(None, (note, "nested too deep: read as plain text")))
        text = f"{text}\n" if text else ""
        headings = _real(markdown_headings(text), expected)
        title = head.text("title") or next((each.name for each in headings if each.level == 1 and each.name), None)
        locale = head.locale
        base = base_layer(head, headings, text)
        return ExtractedText(
            text=text,
            chapters=chapters_from_headings(text, headings),
            title=title,
            charset=decoded.charset,
            language=locale.lower().replace("_", "-").partition("-")[0] if locale else None,
            base=base,
            locale=locale,
            note=note,
        )


def _decode_page(content: bytes) -> Decoded:
    """By the page's own word when it is not UTF-8 and the word is right."""
    told = _CHARSET.search(content[:4096])
    if told:
        name = told.group(1).decode("ascii", "replace").lower()
        try:
            if name not in ("utf-8", "utf8") and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
                return replace(decode(content.decode(name).encode("utf-8")), charset=name)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(content)


def _head(tree: LexborHTMLParser) -> FrontMatter:
    values: dict[str, object] = {}
    title = tree.css_first("head > title")
    if title is not None:
        values["title"] = title.text(strip=True)
    root = tree.css_first("html")
    if root is not None and root.attributes.get("lang"):
        values["lang"] = root.attributes["lang"]
    for meta in tree.css("meta[name][content]"):
        name = (meta.attributes.get("name") or "").lower()
        if name in ("description", "keywords", "date"):
            values[name] = meta.attributes.get("content") or ""
    return FrontMatter(values=values)


def _prune(tree: LexborHTMLParser) -> None:
    for node in tree.css(_PRUNED):
        node.decompose()
    for node in tree.css("[style]"):
        if _HIDDEN_STYLE.search(node.attributes.get("style") or ""):
            node.decompose()
    for image in tree.css("img[src^='data:']"):
        image.attrs["src"] = ""
    for anchor in tree.css("h1 a, h2 a, h3 a, h4 a, h5 a, h6 a"):
        if not _WORDS.search(anchor.text()):
            anchor.decompose()  # the permalink sign beside a heading


def _headings_of(tree: LexborHTMLParser) -> list[tuple[int, str]]:
    return [(int((node.tag or "h1")[1]), _key(node.text())) for node in tree.css("h1, h2, h3, h4, h5, h6")]


def _key(name: str) -> str:
    return "".join(_WORDS.findall(name)).lower()


def _real(found: list[Heading], expected: list[tuple[int, str]]) -> list[Heading]:
    """Headings that the page has as headings: a paragraph may begin with `#` too."""
    kept: list[Heading] = []
    at = 0
    for heading in found:
        wanted = (heading.level, _key(heading.name))
        try:
            at = expected.index(wanted, at) + 1
        except ValueError:
            continue
        kept.append(
            replace(heading, name=_PERMALINK.sub("", heading.name) if heading.name[-1:] in "¶§" else heading.name)
        )
    return kept
