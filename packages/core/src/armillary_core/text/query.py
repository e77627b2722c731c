"""What was asked: cleaned, its quoted phrases found, told apart by kind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from armillary_core.domain.query import QueryClass
from armillary_core.text.folding import Script, fold
from armillary_core.text.function_words import FUNCTION_WORDS
from armillary_core.text.language import script_of
from armillary_core.text.tokens import QueryTerm

_NAVIGATIONAL: Final = 3  # words: a longer query says something
_IDENTIFIERS: Final = 4  # words: an identifier among more is part of a question

_OPENING: Final = '"“„«「『'
_CLOSING: Final = '"”“»」』'
_QUOTED: Final = re.compile(rf"(?<!\w)[{_OPENING}]([^{_OPENING}{_CLOSING}\n]{{2,200}})[{_CLOSING}](?!\w)")
_SPACE: Final = re.compile(r"\s+")
_UNSEEN: Final = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})

# What only messages of programs say. Words of a language alone ("not found") prove nothing in a short question.
_ERROR: Final = re.compile(
    r"""
    \b[A-Z]\w*(?:Error|Exception|Warning|Fault)\b\s*[:(\[]
    | ^\s*(?:\w+\s?:\s)?(?:error|fatal|panic|exception|warning|failed|failure|ошибка)\s*(?:\[\w+\])?\s*[:!]
    | \b(?:error|fatal|panic|warning)(?:\[\w+\])?:\s
    | \btraceback\s\(most\srecent | \bsegmentation\sfault\b | \bcore\sdumped\b | \bstack\s?trace\b
    | \bno\ssuch\sfile\sor\sdirectory\b | \bpermission\sdenied\b | \bconnection\s(?:refused|reset|timed\sout)\b
    | \bcommand\snot\sfound\b | \bundefined\s(?:reference|symbol|variable|method)\b | \bnull\s?pointer\b
    | \bout\sof\smemory\b | \bexit(?:ed)?\s(?:with\s)?(?:code|status)\s-?\d
    | \berrno\s?\d | \bE(?:ACCES|CONN\w+|NOENT|PERM)\b
    | \b(?:cannot|could\snot|couldn't|failed\sto|unable\sto)\s\w+.*[:'"`]
    """,
    re.IGNORECASE | re.VERBOSE,
)
# fmt: off
_ASKING: Final = frozenset({
    "how", "what", "why", "when", "where", "which", "who", "whose", "whom", "can", "could", "should", "would", "does",
    "do", "did", "is", "are", "was", "will", "may", "must",
    "как", "что", "почему", "зачем", "когда", "где", "куда", "какой", "какая", "какое", "какие", "кто", "чем", "чей",
    "сколько", "можно", "нужно", "ли", "откуда",
    "wie", "warum", "wann", "wo", "welche", "welcher", "welches", "wer", "kann",
    "comment", "quoi", "pourquoi", "quand", "quel", "quelle", "qui", "como", "que", "por", "cuando", "donde", "cual",
    "come", "cosa", "perche", "quando", "dove", "quale",
})
# fmt: on
_SMALL: Final = frozenset(
    fold(word) for languages in FUNCTION_WORDS.values() for words in languages.values() for word in words.split()
)
_SAID_BY_A_PROGRAM: Final = re.compile(r"[a-z][\w.+-]{1,30}:\s+\S+\s+\S")  # `rsync: connection closed`
_QUESTION_MARK: Final = re.compile(r"[?？؟]\s*$")


@dataclass(frozen=True, slots=True)
class Question:
    """A query after cleaning."""

    text: str
    phrases: tuple[str, ...]  # what stood in quotes: two words at least, or one that must be as it is
    script: Script
    is_cut: bool  # it was longer than what is looked at

    @property
    def is_blank(self) -> bool:
        """Whether nothing in it could be a word or a name."""
        return not any(char.isalnum() or (unicodedata.category(char)[0] == "S" and char > "\x7f") for char in self.text)


def read_question(text: str, *, max_chars: int) -> Question:
    """The query without what cannot be typed, at most `max_chars` long, on one line."""
    sample = text[: max_chars * 4]
    if not sample.isprintable():
        sample = "".join(" " if unicodedata.category(char) in _UNSEEN else char for char in sample)
    line = _SPACE.sub(" ", sample).strip()
    is_cut = len(line) > max_chars or len(text) > len(sample)
    if len(line) > max_chars:
        space = line.rfind(" ", max_chars // 2, max_chars + 1)
        line = line[: space if space > 0 else max_chars].rstrip()
    phrases = tuple(dict.fromkeys(found.strip() for found in _QUOTED.findall(line) if found.strip()))
    return Question(line, phrases, script_of(line), is_cut)


def classify(question: Question, terms: Sequence[QueryTerm]) -> QueryClass:
    """Identifier, error text, navigational or question, by what the words look like."""
    if _ERROR.search(question.text):
        return QueryClass.ERROR_TEXT
    asks = _QUESTION_MARK.search(question.text) is not None or any(fold(term.surface) in _ASKING for term in terms)
    if not asks and _SAID_BY_A_PROGRAM.match(question.text):
        return QueryClass.ERROR_TEXT
    telling = [term for term in terms if fold(term.surface) not in _SMALL]
    if any(term.identifier for term in terms) and not asks:
        others = sum(not term.identifier for term in telling)
        if len(terms) <= _IDENTIFIERS and others <= len(terms) // 2:
            return QueryClass.IDENTIFIER
    if not asks and len(terms) <= _NAVIGATIONAL:
        return QueryClass.NAVIGATIONAL
    return QueryClass.QUESTION


def is_small_word(word: str) -> bool:
    """Whether a word only holds a sentence together, in any language that has a list."""
    return fold(word) in _SMALL
