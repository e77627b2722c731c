"""Which language a text is written in: by its script first, then by its commonest little words."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from armillary_core.text.folding import MARKS, Script, fold, script_of_char
from armillary_core.text.function_words import FUNCTION_WORDS

__all__ = ["Script", "detect_language", "script_of"]

_SAMPLE: Final = 3000  # characters looked at
_SCRIPT_SAMPLE: Final = 2000

_REPEATS: Final = 4  # one word repeated is one sign
_DEFAULT: Final = ("en", "ru")  # taken without a language told, so little evidence is enough

_LETTER_RUN: Final = re.compile(rf"[^\W\d_][^\W\d_{MARKS}]*(?:[{MARKS}]+[^\W\d_]*)*")
_FOREIGN: Final = re.compile(r"[^\x00-\u024f\u2000-\u2bff\U0001f000-\U0001faff]")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\{\{.*?\}\}|https?://\S+|<[^<>\n]*>", re.DOTALL)

_ONLY_LANGUAGE: Final = {
    Script.GREEK: "el",
    Script.ARMENIAN: "hy",
    Script.TAMIL: "ta",
    Script.THAI: "th",
    Script.HANGUL: "ko",
    Script.KANA: "ja",
    Script.HAN: "zh",
}


def _languages_by_word() -> dict[Script, dict[str, tuple[str, ...]]]:
    found: dict[Script, dict[str, tuple[str, ...]]] = {}
    for script, languages in FUNCTION_WORDS.items():
        table: dict[str, tuple[str, ...]] = {}
        for language, words in languages.items():
            for word in dict.fromkeys(fold(words).split()):
                table[word] = (*table.get(word, ()), language)
        found[script] = table
    return found


_BY_WORD: Final = _languages_by_word()


def script_of(text: str) -> Script:
    """The script most letters of the beginning of a text are in; any kana makes it Japanese. NONE without letters."""
    sample = text[:_SCRIPT_SAMPLE]
    if sample.isascii() or not _FOREIGN.search(sample):
        return Script.LATIN if any(char.isalpha() for char in sample) else Script.NONE
    counts: Counter[Script] = Counter()
    for char, times in Counter(sample).items():
        counts[script_of_char(char)] += times
    counts.pop(Script.NONE, 0)
    if not counts:
        return Script.NONE
    # One character of these says as much as several letters of an alphabet.
    dense = counts[Script.HAN] + counts[Script.KANA] + counts[Script.HANGUL]
    if dense * 3 > sum(counts.values()) - dense:
        if counts[Script.KANA] * 10 >= counts[Script.HAN] and counts[Script.KANA] >= counts[Script.HANGUL]:
            return Script.KANA
        return Script.HAN if counts[Script.HAN] >= counts[Script.HANGUL] else Script.HANGUL
    return counts.most_common(1)[0][0]


def detect_language(text: str) -> str | None:
    """ISO 639-1 of the beginning of a text; None when it is too short or too mixed to be sure."""
    sample = text[:_SAMPLE]
    script = script_of(sample)
    only = _ONLY_LANGUAGE.get(script)
    if only is not None:
        return only
    table = _BY_WORD.get(script)
    if table is None:
        return None
    words = _LETTER_RUN.findall(fold(_CODE.sub(" ", sample)))
    counts = Counter(words)
    if script is Script.LATIN:  # a single letter may be any variable
        for letter in [word for word in counts if len(word) == 1]:
            del counts[letter]
    votes: Counter[str] = Counter()
    distinct: Counter[str] = Counter()
    for word, times in counts.items():
        for language in table.get(word, ()):
            votes[language] += min(times, _REPEATS)
            distinct[language] += 1
    if not votes:
        return None
    (best, most), *rest = votes.most_common(2)
    if rest and most < rest[0][1] * 1.15:
        return None
    total = sum(min(times, _REPEATS) for times in counts.values())
    if best in _DEFAULT:
        return best if distinct[best] >= 2 and most >= total * 0.04 else None
    signs = 3 if total > 20 else 2
    return best if distinct[best] >= signs and most >= total * 0.12 else None
