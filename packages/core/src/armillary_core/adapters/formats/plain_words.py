"""The first paragraph of a text in plain words: a card's summary before anybody wrote one."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 300

_LOOKED_AT: Final = 6000
_IMAGE: Final = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK: Final = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG: Final = re.compile(r"</?[A-Za-z!][^<>]*>|\{%.*?%\}|\{\{<.*?>\}\}")
_AUTOLINK: Final = re.compile(r"<(https?://[^<>\s]+)>")
_MARK: Final = re.compile(r"\\(?=[^\w\s])|`+|\*+|~~|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_QUOTE: Final = re.compile(r"^\s*(?:>\s?)+", re.MULTILINE)
_NOT_PROSE: Final = re.compile(
    r"\s*(?:#{1,6}(?:\s|$)|[-*+]\s|\d+[.)]\s|\||<|```|~~~|import\s|export\s|={3,}|-{3,}|\*{3,}|\.\. |:::|\{%"
    r"|\[\^?[^\]]+\]:)"
)
_BLANK: Final = re.compile(r"\n[^\S\n]*\n")
_PROSE: Final = re.compile(r"(?:[^\W\d_][\W\d_]*){3}")
_UNDERLINE: Final = re.compile(r"\s*(?:=+|-+|~+|\^+|\*+)\s*")


def first_paragraph(text: str, start: int = 0) -> str | None:
    """The first stretch of prose from `start`, without markup, at most 300 characters; None when there is none near."""
    near = text[start : start + _LOOKED_AT]
    fence: str | None = None
    for block in _BLANK.split(near):
        lines = block.strip("\n").split("\n")
        opening = lines[0].lstrip()[:3]
        if fence is not None or opening in ("```", "~~~"):
            fence = fence or opening
            if len(lines) > 1 and lines[-1].strip().startswith(fence):
                fence = None
            continue
        while lines and (_NOT_PROSE.match(lines[0]) or (len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]))):
            lines = lines[2:] if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) else lines[1:]
            if lines and _NOT_PROSE.match(lines[0]):
                lines = [] if not lines[0].lstrip().startswith("#") else lines
        words = plain_words("\n".join(lines))
        if _PROSE.search(words):
            return shortened(words)
    return None


def plain_words(text: str) -> str:
    """Markdown without its marks, white space collapsed."""
    text = _QUOTE.sub("", text)
    if "[" in text:
        text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    if "<" in text or "{" in text:
        text = _TAG.sub("", _AUTOLINK.sub(r"\1", text))
    return " ".join(_MARK.sub("", text).split())


def shortened(words: str, longest: int = LONGEST) -> str:
    """Cut at a word, with an ellipsis."""
    if len(words) <= longest:
        return words
    cut = words.rfind(" ", longest // 2, longest)
    return words[: cut if cut > 0 else longest - 1].rstrip(" ,;:") + "…"
