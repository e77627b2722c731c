"""Words: what is indexed of a text and asked of the index. One analysis for both.

A token of plain prose is the textbook's: a `\\w+` word, lower case, accents folded, stemmed. An identifier is indexed
whole and, in addition, by its parts (`getUserById` → getuserbyid, get, user, by, id); compounds (`a.b.c`,
`--dry-run`, `src/app.py`, `v1.2.3`, `C#`) by their words and, in addition, whole. Scripts without spaces are indexed by
character and pair of characters.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import Stemmer

from armillary_core.domain.chunk import TermCounts
from armillary_core.text.folding import MARKS, UNSPACED, Script, fold_accents, script_of_char

TOKENIZER_VERSION: Final = 1

MAX_TOKEN: Final = 60  # characters; of a longer word only this much is kept
_MAX_SPLIT: Final = 200  # a longer word is a blob and is not split into parts
_MAX_SHARP: Final = 4  # `C#`, `F#`, `ASP#`: a longer word before `#` is only a word
_MEMO_ENTRIES: Final = 50_000
_MEMO_LENGTH: Final = 48

# Lucene's English list. Asked words only are marked: the index keeps all of them.
_STOP_LINE: Final = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)
STOP_WORDS: Final = frozenset(_STOP_LINE.split())

# ISO 639-1 → Snowball algorithm and the script it is written for.
STEMMERS: Final[dict[str, tuple[str, Script]]] = {
    "ar": ("arabic", Script.ARABIC),
    "ca": ("catalan", Script.LATIN),
    "cs": ("czech", Script.LATIN),
    "da": ("danish", Script.LATIN),
    "de": ("german", Script.LATIN),
    "el": ("greek", Script.GREEK),
    "en": ("english", Script.LATIN),
    "eo": ("esperanto", Script.LATIN),
    "es": ("spanish", Script.LATIN),
    "et": ("estonian", Script.LATIN),
    "eu": ("basque", Script.LATIN),
    "fa": ("persian", Script.ARABIC),
    "fi": ("finnish", Script.LATIN),
    "fr": ("french", Script.LATIN),
    "ga": ("irish", Script.LATIN),
    "hi": ("hindi", Script.DEVANAGARI),
    "hu": ("hungarian", Script.LATIN),
    "hy": ("armenian", Script.ARMENIAN),
    "id": ("indonesian", Script.LATIN),
    "it": ("italian", Script.LATIN),
    "lt": ("lithuanian", Script.LATIN),
    "ne": ("nepali", Script.DEVANAGARI),
    "nl": ("dutch", Script.LATIN),
    "no": ("norwegian", Script.LATIN),
    "pl": ("polish", Script.LATIN),
    "pt": ("portuguese", Script.LATIN),
    "ro": ("romanian", Script.LATIN),
    "ru": ("russian", Script.CYRILLIC),
    "sr": ("serbian", Script.CYRILLIC),
    "st": ("sesotho", Script.LATIN),
    "sv": ("swedish", Script.LATIN),
    "ta": ("tamil", Script.TAMIL),
    "tr": ("turkish", Script.LATIN),
    "yi": ("yiddish", Script.HEBREW),
}
# Languages whose words must not be cut by another language's rules.
_UNSTEMMED: Final = {"uk": Script.CYRILLIC, "bg": Script.CYRILLIC, "be": Script.CYRILLIC, "vi": Script.LATIN}
_DEFAULTS: Final = {
    Script.LATIN: "en",
    Script.CYRILLIC: "ru",
    Script.GREEK: "el",
    Script.ARABIC: "ar",
    Script.ARMENIAN: "hy",
    Script.DEVANAGARI: "hi",
    Script.TAMIL: "ta",
}

_W: Final = rf"[\w{MARKS}]"
_LETTER: Final = r"[^\W\d_]"
_WORD: Final = re.compile(rf"{_W}+")
# One unit: a word, or words joined as identifiers, versions, flags, paths and addresses are.
_UNIT: Final = re.compile(
    rf"(?:(?<![\w-])--?(?={_LETTER})|(?<![\w.])\.(?={_LETTER}))?"
    rf"{_W}+(?:(?:://|::|->|[.@-]|[/\\][.~@-]{{0,2}}){_W}+)*"
    r"(?:\+\+(?![\w+])|\#(?![\w\#]))?"
)
_UNSPACED_RUN: Final = re.compile(rf"([{UNSPACED}]+)")
_NOT_PLAIN: Final = re.compile(r"[\d_]")
_UPPER: Final = "A-ZА-ЯΑ-Ω"
_LOWER: Final = rf"(?:(?![{_UPPER}]){_LETTER})"
_PART: Final = re.compile(
    rf"[{_UPPER}]{{2,}}s(?!{_LOWER})|[{_UPPER}]+(?!{_LOWER})|[{_UPPER}]?{_LOWER}+|[{_UPPER}]+(?=[{_UPPER}]{_LOWER})|\d+"
)
_PLURAL_ACRONYM: Final = re.compile(rf"[{_UPPER}]{{2,}}s")
_VERSION: Final = re.compile(r"v\d+(?:[.-]\w+)+")
_EMPHASIS: Final = re.compile(r"_([^_]+)_")

_Token = tuple[str, str]  # what is indexed, and the surface form it stands for


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of a text with a surface form seen in it for each."""

    terms: TermCounts
    words: dict[int, str]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a question, where it stands, and every token it may be indexed as."""

    surface: str
    start: int
    end: int
    tokens: tuple[str, ...]  # stems in each language, the whole identifier and its parts
    identifier: bool
    stop: bool


def token_id(token: str) -> int:
    """32 bits that stay the same in every process and version."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


def count_tokens(text: str, language: str | None) -> TokenCounts:
    """Every token of a text and how often it occurs, each occurrence of an identifier's parts included."""
    memo = _memo_of(language)
    counts: dict[int, int] = {}
    words: dict[int, str] = {}
    for cluster, times in Counter(text.split()).items():
        tokens = memo.get(cluster)
        if tokens is None:
            tokens = _remember(memo, cluster, language)
        for number, surface in tokens:
            counts[number] = counts.get(number, 0) + times
            words[number] = surface
    try:
        amounts = array("H", counts.values())
    except OverflowError:
        amounts = array("H", [min(count, 0xFFFF) for count in counts.values()])
    return TokenCounts(TermCounts(array("I", counts), amounts), words)


def query_terms(text: str, languages: Sequence[str]) -> list[QueryTerm]:
    """The words of a question in order, analysed as documents in any of the languages would be.

    English for Latin letters and Russian for Cyrillic ones are always among them, as they are for documents whose
    language is not known.
    """
    found: list[QueryTerm] = []
    asked = (None, *languages)
    for match in _UNIT.finditer(text):
        unit = match.group()
        start = match.start()
        if not _UNSPACED_RUN.search(unit):
            found.extend(_query_term(unit, start, asked))
            continue
        for piece in _UNSPACED_RUN.split(unit):
            if _UNSPACED_RUN.match(piece):
                folded = fold_accents(piece).casefold()
                pairs = _pairs(folded) if len(folded) > 1 else [folded]
                tokens = tuple(dict.fromkeys(pairs))
                found.append(QueryTerm(piece, start, start + len(piece), tokens, identifier=False, stop=False))
            elif any(map(str.isalnum, piece)):
                for inner in _UNIT.finditer(piece):
                    found.extend(_query_term(inner.group(), start + inner.start(), asked))
            start += len(piece)
    return found


def _query_term(unit: str, start: int, languages: Iterable[str | None]) -> Iterator[QueryTerm]:
    tokens = dict.fromkeys(token for language in languages for token, _ in _unit_tokens(unit, language))
    if not tokens:
        return  # nothing but underscores
    plain = fold_accents(unit)
    yield QueryTerm(
        surface=unit,
        start=start,
        end=start + len(unit),
        tokens=tuple(tokens),
        identifier=_looks_like_identifier(plain),
        stop=plain.casefold() in STOP_WORDS,
    )


def _looks_like_identifier(unit: str) -> bool:
    words = _WORD.findall(unit)
    if words and (words[0] == unit or (unit[0] not in "-." and set("".join(_WORD.split(unit))) == {"-"})):
        return any(_is_structured(word) for word in words)  # a word, or prose joined by hyphens
    return bool(words)  # a.b, a/b, a::b, --a-b, .net, c#


def _is_structured(word: str) -> bool:
    if word.isdigit() or _EMPHASIS.fullmatch(word):
        return False
    return bool(_NOT_PLAIN.search(word)) or _is_camel(word)


def _is_camel(word: str) -> bool:
    if word.islower() or word.isupper() or word[1:].upper() == word[1:] or word[1:].islower():
        return False
    return not _PLURAL_ACRONYM.fullmatch(word)


# --- one cluster: what stands between white space ---

_Numbered = tuple[tuple[int, str], ...]
_memos: dict[str | None, dict[str, _Numbered]] = {}  # by language: cluster or unit → token ids and surface forms


def _memo_of(language: str | None) -> dict[str, _Numbered]:
    known = language if language in STEMMERS or language in _UNSTEMMED else None
    memo = _memos.get(known)
    if memo is None:
        memo = _memos[known] = {}
    return memo


def _remember(memo: dict[str, _Numbered], cluster: str, language: str | None) -> _Numbered:
    tokens: _Numbered = ()
    for unit in _UNIT.findall(cluster):
        known = memo.get(unit)
        if known is None:
            known = tuple([(token_id(token), surface) for token, surface in _unit_tokens(unit, language)])
            if len(unit) <= _MEMO_LENGTH:
                memo[unit] = known
        tokens = tokens + known if tokens else known
    if len(cluster) <= _MEMO_LENGTH:
        if len(memo) >= _MEMO_ENTRIES:
            memo.clear()
        memo[cluster] = tokens
    return tokens


def _unit_tokens(unit: str, language: str | None) -> list[_Token]:
    if unit.isascii() and unit.isalpha() and (unit.islower() or unit[1:].islower()):
        return [_plain_token(unit.lower(), language)]
    plain = fold_accents(unit)
    words = _WORD.findall(plain)
    found: list[_Token] = []
    for word in words:
        if word.isascii() or not _UNSPACED_RUN.search(word):
            _add_word(found, word, language)
            continue
        for piece in _UNSPACED_RUN.split(word):
            if _UNSPACED_RUN.match(piece):
                folded = piece.casefold()
                found.extend([(token, token) for token in (*folded, *_pairs(folded))])
            elif piece:
                _add_word(found, piece, language)
    if words and (len(words) > 1 or words[0] != plain):
        found.extend([(whole, whole) for whole in _wholes(plain.casefold(), len(words))])
    return found


def _wholes(unit: str, words: int) -> Iterator[str]:
    """The unit in one piece, and what of it people also write alone."""
    if unit[-1] == "#" and len(unit) > _MAX_SHARP:
        unit = unit[:-1]
        if words == 1 and unit[0] not in "-.":
            return
    seen: set[str] = set()
    body = unit.lstrip("-.") if words > 1 or not unit.endswith(("#", "+")) else unit
    candidates = [unit]
    if body != unit and words > 1:
        candidates.append(body)
    if "/" in body or "\\" in body:
        path = body.replace("\\", "/").split("://")[-1]
        candidates = [path]
        candidates.extend(part for part in path.split("/") if len(_WORD.findall(part)) > 1)
    elif _VERSION.fullmatch(body):
        candidates.append(body[1:])
    elif words > 1 and body.endswith(("#", "+")):
        candidates.append(body.rstrip("#+"))
    for whole in candidates:
        if whole not in seen and len(whole) <= MAX_TOKEN and len(whole) > 1:
            seen.add(whole)
            yield whole


def _add_word(found: list[_Token], word: str, language: str | None) -> None:
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower()):
        found.append(_plain_token(word.lower(), language))
        return
    emphasis = _EMPHASIS.fullmatch(word)
    if emphasis:
        word = emphasis.group(1)
    lower = word.casefold()
    if not _NOT_PLAIN.search(word):
        found.append(_plain_token(lower, language))
        if not _is_camel(word) or len(word) > _MAX_SPLIT:
            return
    elif word.strip("_"):
        found.append((lower[:MAX_TOKEN], lower[:MAX_TOKEN]))
        if word.isdigit() or len(word) > _MAX_SPLIT:
            return
    else:
        return
    for part in _PART.findall(word):
        if len(part) < 2 and not _is_camel(word):
            continue
        if part.isdigit():
            found.append((part, part))
        elif len(part) < len(lower):
            found.append(_plain_token(part.casefold(), language))


def _plain_token(lower: str, language: str | None) -> _Token:
    if len(lower) > MAX_TOKEN:
        return lower[:MAX_TOKEN], lower[:MAX_TOKEN]
    return _stem(lower, language), lower


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


# --- stems ---

_stemmers: dict[str, Stemmer.Stemmer] = {}


def _stem(word: str, language: str | None) -> str:
    name = _stemmer_of(word, language)
    if name is None:
        return word
    stemmer = _stemmers.get(name)
    if stemmer is None:
        stemmer = _stemmers[name] = Stemmer.Stemmer(STEMMERS[name][0], 0)
    stem: str = stemmer.stemWord(word)
    return stem or word


def _stemmer_of(word: str, language: str | None) -> str | None:
    """The language whose rules fit the word: the text's own when it is written in the word's script."""
    script = script_of_char(word[0])
    if language is not None:
        if language in STEMMERS and STEMMERS[language][1] is script:
            return language
        if _UNSTEMMED.get(language) is script:
            return None
    return _DEFAULTS.get(script)
