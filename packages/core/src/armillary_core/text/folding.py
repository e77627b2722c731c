"""Characters: accents folded, scripts told apart."""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Final


class Script(StrEnum):
    LATIN = "latin"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    ARABIC = "arabic"
    HEBREW = "hebrew"
    ARMENIAN = "armenian"
    DEVANAGARI = "devanagari"
    TAMIL = "tamil"
    THAI = "thai"
    HAN = "han"
    KANA = "kana"
    HANGUL = "hangul"
    OTHER = "other"
    NONE = "none"  # no letters at all


_RANGES: Final = (
    (0x0041, 0x024F, Script.LATIN),
    (0x0370, 0x03FF, Script.GREEK),
    (0x0400, 0x052F, Script.CYRILLIC),
    (0x0530, 0x058F, Script.ARMENIAN),
    (0x0590, 0x05FF, Script.HEBREW),
    (0x0600, 0x06FF, Script.ARABIC),
    (0x0750, 0x077F, Script.ARABIC),
    (0x0900, 0x097F, Script.DEVANAGARI),
    (0x0B80, 0x0BFF, Script.TAMIL),
    (0x0E00, 0x0E7F, Script.THAI),
    (0x1100, 0x11FF, Script.HANGUL),
    (0x1E00, 0x1EFF, Script.LATIN),
    (0x1F00, 0x1FFF, Script.GREEK),
    (0x2E80, 0x2FDF, Script.HAN),
    (0x3005, 0x3007, Script.HAN),
    (0x3040, 0x30FF, Script.KANA),
    (0x3130, 0x318F, Script.HANGUL),
    (0x31F0, 0x31FF, Script.KANA),
    (0x3400, 0x9FFF, Script.HAN),
    (0xAC00, 0xD7AF, Script.HANGUL),
    (0xF900, 0xFAFF, Script.HAN),
    (0xFB50, 0xFEFC, Script.ARABIC),
    (0xFF21, 0xFF5A, Script.LATIN),
    (0xFF66, 0xFF9F, Script.KANA),
    (0x20000, 0x3FFFF, Script.HAN),
)


def script_of_char(char: str) -> Script:
    """The script of one character; NONE when it is not a letter."""
    if char.isascii():
        return Script.LATIN if char.isalpha() else Script.NONE
    code = ord(char)
    for low, high, script in _RANGES:
        if low <= code <= high:
            return script if char.isalpha() or script is Script.THAI else Script.NONE
    return Script.OTHER if char.isalpha() else Script.NONE


# Written without spaces between words (or, as Korean, with endings glued on): indexed as pairs of characters.
UNSPACED: Final = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    r"\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"  # Hangul
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u104f\u1780-\u17d3"  # Thai, Lao, Myanmar, Khmer
)

# Vowel signs and accents belong to a word although `\w` does not know them; so does the soft hyphen.
MARKS: Final = (
    r"\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0900-\u0963\u0970-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)

_LETTERS: Final = {
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "ı": "i", "ŧ": "t", "Ŧ": "T",
    "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "ß": "ss", "ẞ": "SS",
    "ё": "е", "Ё": "Е", "ѐ": "е", "Ѐ": "Е", "ѝ": "и", "Ѝ": "И", "\u0640": None, "\u00ad": None,
}  # fmt: skip


class _Folding(dict[int, "str | None"]):
    """A translation table that fills itself: one entry for every character ever met."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        folded: str | None = char
        if char in _LETTERS:
            folded = _LETTERS[char]
        elif 0x0300 <= code <= 0x036F or 0x0591 <= code <= 0x05C7 or 0x064B <= code <= 0x065F:
            folded = None
        elif code < 0x0250 or 0x0370 <= code <= 0x03FF or 0x1E00 <= code <= 0x1FFF:
            folded = unicodedata.normalize("NFD", char)[0]
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def fold_accents(text: str) -> str:
    """Compatibility forms unified, accents and vowel points dropped, `ё` as `е`, `ß` as `ss`; case is kept.

    Cyrillic `й` and the vowel signs of Indic scripts are letters and stay.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_FOLDING)


def fold(text: str) -> str:
    """fold_accents and lower case: how two spellings of one word compare equal."""
    return fold_accents(text).casefold()
