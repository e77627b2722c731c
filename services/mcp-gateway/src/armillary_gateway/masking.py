"""Key-like strings are hidden in answers; what the files hold stays as it is."""

from __future__ import annotations

import re

_HIDDEN = "\x00"  # never survives: clean() turns a run of it into the word below
WORD = "[masked]"
LOOK_AROUND = 16_384  # characters before and after a cut that may belong to a key

_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<hide>.{1,15000}?)(?=-----END |\Z)", re.DOTALL
)
_KEYS = re.compile(
    r"""
      \b(?:AKIA|ASIA|ABIA|ACCA)(?P<aws>[A-Z0-9]{16})\b
    | (?i:aws_?secret_?access_?key)["']?\s*[:=]\s*["']?(?P<aws_secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])
    | \bgh[pousr]_(?P<github>[A-Za-z0-9]{36,255})\b
    | \bgithub_pat_(?P<github_pat>[A-Za-z0-9_]{22,255})\b
    | \bglpat-(?P<gitlab>[A-Za-z0-9_-]{20,255})
    | \bxox[abeprs]-(?P<slack>[A-Za-z0-9-]{10,255})
    | \bAIza(?P<google>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])
    | \b[rs]k_(?:live|test)_(?P<stripe>[A-Za-z0-9]{16,255})\b
    | \bsk-(?P<sk>(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,255})
    | \bnpm_(?P<npm>[A-Za-z0-9]{36})\b
    | \bpypi-(?P<pypi>[A-Za-z0-9_-]{50,255})
    | \barm_(?P<own>[A-Za-z0-9_-]{43})(?![A-Za-z0-9_-])
    | \beyJ(?P<jwt>[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})
    | (?i:\bbearer)[ ](?P<bearer>(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{24,})
    """,
    re.VERBOSE,
)
# Every key has a run this long: most text has none and costs one look.
_LONG_RUN = re.compile(r"[A-Za-z0-9_+/=.~-]{15}")
# The inside of a key whose first line was cut away, as snippets do.
_LOOSE = re.compile(
    r"(?<![A-Za-z0-9+/=])(?=[^\s]*[a-z])(?=[^\s]*[A-Z])(?=[^\s]*[0-9])[A-Za-z0-9+/]{60,}={0,2}(?![\w/+=])"
)
_RUN = re.compile(f"{_HIDDEN}+(?:\\s+{_HIDDEN}+)*")
# Control characters, direction overrides and invisible tags; line ends and tabs stay.
_NOISE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def hide_keys(text: str, *, loose: bool = False) -> str:
    """Same length, key-like characters replaced; clean() makes it readable. `loose` also hides long base64 words."""
    text = text.replace(_HIDDEN, "\x01")
    if "PRIVATE KEY" not in text and not _LONG_RUN.search(text):
        return text
    for pattern in (_PEM, _KEYS, _LOOSE) if loose else (_PEM, _KEYS):
        text = pattern.sub(_hide, text)
    return text


def _hide(match: re.Match[str]) -> str:
    whole, start = match.group(), match.start()
    name = match.lastgroup
    begin, end = match.span(name) if name is not None else match.span()
    hidden = "".join(character if character == "\n" else _HIDDEN for character in whole[begin - start : end - start])
    return whole[: begin - start] + hidden + whole[end - start :]


def clean(text: str) -> str:
    """Without control characters, with hidden stretches as one word."""
    return _NOISE.sub("", _RUN.sub(WORD, text))
