"""Bytes of any charset into text with LF line ends; what could not be read is replaced and told."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from armillary_core.text.sniff import looks_like_utf16

_SAMPLE: Final = 32_768
_HIGH: Final = re.compile(rb"[\x80-\xff]")
_HIGH_LINES: Final = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Letters that texts in the old one-byte charsets are made of, and how often they are met.
_CYRILLIC: Final = {letter: 32 - rank for rank, letter in enumerate("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ")}
_WESTERN: Final = frozenset("àâäáãåæçèéêëìíîïñòóôöõøœùúûüýÿßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜÝ")
_CENTRAL: Final = frozenset("ąćęłńóśźżáčďéěíňřšťúůýžäöüßőűăâîșțşţĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽÄÖÜŐŰĂÂÎŞŢ")
_PUNCTUATION: Final = frozenset("–—‘’‚“”„…«»·•°§©®™€№№¡¿\u00a0±×÷½¼¾²³µ¶")
_LETTER_RUN: Final = re.compile(r"[^\W\d_]+")
_CANDIDATES: Final = (
    ("windows-1252", _WESTERN, False),
    ("windows-1251", frozenset(_CYRILLIC), True),
    ("koi8-r", frozenset(_CYRILLIC), True),
    ("cp866", frozenset(_CYRILLIC), True),
    ("windows-1250", _CENTRAL, False),
)
_EASTERN: Final = {
    "big5": "big5",
    "big5hkscs": "big5hkscs",
    "cp932": "cp932",
    "cp949": "cp949",
    "euc_jis_2004": "euc_jp",
    "euc_jp": "euc_jp",
    "euc_kr": "euc_kr",
    "gb18030": "gb18030",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "johab": "johab",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
}


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str  # LF line ends, no byte order mark, no lone surrogates
    charset: str
    note: str | None = None


def decode(content: bytes) -> Decoded:
    """By byte order mark, as UTF-8, as UTF-16 without a mark, then by what the old charsets would make of it."""
    for mark, charset in _MARKS:
        if content.startswith(mark):
            return _finished(content[len(mark) :], charset)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(content)
    if "\0" in text:
        wide = looks_like_utf16(content[:8192])
        if wide is not None:
            return _finished(content, wide)
        zeros = text.count("\0")
        text = text.replace("\0", "\ufffd")
        return Decoded(with_line_feeds(text), "utf-8", f"{_counted(zeros, 'NUL byte')} replaced")
    return Decoded(with_line_feeds(text), "utf-8")


def with_line_feeds(text: str) -> str:
    """CRLF and lone CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _finished(content: bytes, charset: str, note: str | None = None) -> Decoded:
    try:
        text = content.decode(charset)
    except UnicodeDecodeError:
        text = content.decode(charset, "replace")
        bad = text.count("\ufffd")
        note = f"{_counted(bad, 'character')} not valid in {charset} and replaced"
    text = _SURROGATE.sub("\ufffd", text.replace("\0", "\ufffd"))
    return Decoded(with_line_feeds(text), charset, note)


def _guessed(content: bytes) -> Decoded:
    if content.find(b"\0", 0, 8192) >= 0:
        wide = looks_like_utf16(content[:8192])
        if wide is not None:
            return _finished(content, wide)
    replaced = content.decode("utf-8", "replace")
    bad = replaced.count("\ufffd")
    good = sum(1 for char in replaced[:_SAMPLE] if char > "\x7f" and char != "\ufffd")
    note = f"{_counted(bad, 'byte sequence')} not UTF-8 and replaced"
    if good >= replaced.count("\ufffd", 0, _SAMPLE) * 3:
        return _utf8(replaced, note)
    sample = b"\n".join(_HIGH_LINES.findall(content[: _SAMPLE * 4]))[:_SAMPLE] or content[-_SAMPLE:]
    old = _old_charset(sample)
    if old is None and len(_HIGH.findall(sample)) * 5 > len(sample):
        old = _eastern_charset(sample)
    if old is not None:
        return _finished(content, old)
    if bad * 20 <= len(content) or bad <= 8:
        return _utf8(replaced, note)
    return _finished(content, "windows-1252", "charset unknown: read as windows-1252")


def _utf8(text: str, note: str) -> Decoded:
    return Decoded(with_line_feeds(text.replace("\0", "\ufffd")), "utf-8", note)


def _old_charset(sample: bytes) -> str | None:
    """The one-byte charset in which the words look most like words; None when they do in none."""
    best: tuple[float, str] | None = None
    for charset, letters, cyrillic in _CANDIDATES:
        score = _plausibility(sample.decode(charset, "replace"), letters, cyrillic=cyrillic)
        if score > 0.6 and (best is None or score > best[0] + 0.02):
            best = (score, charset)
    return best[1] if best else None


def _plausibility(text: str, letters: frozenset[str], *, cyrillic: bool) -> float:
    """The share of words with letters beyond ASCII that could be words; other signs inside words count against it."""
    good = bad = 0.0
    for word in _LETTER_RUN.findall(text):
        if word.isascii():
            continue
        foreign = [char for char in word if not char.isascii()]
        lower = word.lower()
        known = sum(char.lower() in letters or char in letters for char in foreign)
        cased = word.islower() or word.isupper() or (word[0].isupper() and (len(word) == 1 or word[1:].islower()))
        if cyrillic:
            if len(foreign) < len(word) or known < len(foreign) or not cased:
                bad += len(foreign)
                continue
            frequent = sum(_CYRILLIC.get(char, 0) for char in lower) / len(lower)
            likely = min(frequent / 20, 1.0) * (0.9 if word.isupper() else 1.0)
            good += len(foreign) * likely
            bad += len(foreign) * (1 - likely)
        elif known < len(foreign) or not cased or (len(word) > 1 and len(foreign) * 10 > len(word) * 7):
            bad += len(foreign)
        else:
            good += len(foreign)
    signs = sum(1 for char in text if char > "\x7f" and not char.isalpha())
    odd = signs - sum(text.count(sign) for sign in _PUNCTUATION)
    bad += max(odd, 0) * 2
    if good + bad == 0:
        return 0.7 if signs and odd <= 0 else 0.0
    return good / (good + bad)


def _eastern_charset(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes  # late: 30 ms that most workers never need

    for guess in from_bytes(sample, threshold=0.2):
        charset = _EASTERN.get(guess.encoding)
        if charset is None:
            continue
        text = sample.decode(charset, "replace")
        if text.count("\ufffd") <= 1 and not any(char.isspace() and char not in " \n\r\t\u3000" for char in text):
            return charset
    return None


def _counted(count: int, what: str) -> str:
    return f"{count} {what} was" if count == 1 else f"{count} {what}s were"
