"""What stands in a Markdown text and says nothing to a reader: imports, component tags, Markdoc tags."""

from __future__ import annotations

import re
from typing import Final

# Each runs on to its end, but never over another beginning: a text full of beginnings costs no more than any other.
_COMMENT: Final = r"<!--(?:(?!<!--).)*?-->|\{/\*(?:(?!\{/\*).)*?\*/\}"
_MODULE_LINES: Final = r"^(?:import|export)\s.*?(?=^[^\S\n]*$|\Z)"
_MARKDOC: Final = r"\{%(?:(?!\{%).)*?%\}"
_TAG: Final = r"</?[A-Z][\w.]*(?:\s[^<>]*)?/?>"
_FLAGS: Final = re.DOTALL | re.MULTILINE
_HIDDEN: Final = re.compile(f"{_COMMENT}|{_MODULE_LINES}", _FLAGS)
_JSX_NOISE: Final = re.compile(f"{_COMMENT}|{_MODULE_LINES}|{_TAG}|{_MARKDOC}", _FLAGS)
_MARKDOC_NOISE: Final = re.compile(_MARKDOC, _FLAGS)
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}+|~{3,}+).*?(?:^ {0,3}\1[`~]*[^\S\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_NOT_LINE_END: Final = re.compile(r"[^\n]")


def without_noise(text: str, media_type: str) -> str | None:
    """The text with noise blanked out, as long as before; None when there is none. Code is left alone."""
    if media_type == "text/mdx":
        pattern = _JSX_NOISE
    elif media_type == "text/markdown" and "{%" in text:
        pattern = _MARKDOC_NOISE
    else:
        return None
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(text):
        parts += (_blanked(text[at : fence.start()], pattern), fence.group())
        at = fence.end()
    parts.append(_blanked(text[at:], pattern))
    return "".join(parts)


def blanked_jsx(text: str) -> str:
    """Comments, imports and exports of MDX as spaces, so that nothing in them looks like a heading."""
    return _blanked(text, _HIDDEN)


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: _NOT_LINE_END.sub(" ", match.group()), text)
