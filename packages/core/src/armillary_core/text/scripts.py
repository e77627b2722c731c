"""Languages by the script they are written in."""

from __future__ import annotations

from typing import Final

from armillary_core.text.folding import Script
from armillary_core.text.tokens import STEMMERS

_OTHERS: Final = {
    "uk": Script.CYRILLIC, "bg": Script.CYRILLIC, "be": Script.CYRILLIC, "mk": Script.CYRILLIC, "kk": Script.CYRILLIC,
    "he": Script.HEBREW, "ur": Script.ARABIC, "mr": Script.DEVANAGARI, "th": Script.THAI, "zh": Script.HAN,
    "ja": Script.KANA, "ko": Script.HANGUL,
}  # fmt: skip
_SAME: Final = {Script.KANA: Script.HAN}  # a Japanese question may be all in characters


def script_of_language(language: str | None) -> Script:
    """LATIN for a language that is not known to be written otherwise; NONE when there is no language."""
    if not language:
        return Script.NONE
    stemmer = STEMMERS.get(language)
    return stemmer[1] if stemmer is not None else _OTHERS.get(language, Script.LATIN)


def is_other_script(one: Script, other: Script) -> bool:
    """Whether readers of the one cannot read the other; unknown ones never differ."""
    if Script.NONE in (one, other) or Script.OTHER in (one, other):
        return False
    return _SAME.get(one, one) is not _SAME.get(other, other)
