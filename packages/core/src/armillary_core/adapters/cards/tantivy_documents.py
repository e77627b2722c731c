"""What tantivy holds: one entry a card and one a named chapter, and how they are made."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

from tantivy import Document, Index, Schema, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from armillary_core.adapters.cards.tantivy_filters import NUMBERS
from armillary_core.domain.card import Card
from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.domain.document import encode_path
from armillary_core.domain.facets import Facets, facets_of
from armillary_core.domain.query import Field
from armillary_core.ports.catalogue.outbox import CardIndexState
from armillary_core.text.names import NAMES_VERSION, fold_name, name_units

CHAPTER: Final = "chapter"  # ordinal; CARD_ITSELF for the card
CARD_ITSELF: Final = -1
KIND: Final = "kind"  # "card" or "chapter"
WHOLE: Final = "whole"  # every name as a whole, folded, behind a letter for what it names
LENGTH: Final = "length"  # how long the entry's names are, in steps
NAME: Final = "name"  # words of the title, or of the chapter's own name
FILE: Final = "file"  # words of the path
HEADING: Final = "heading"  # words of a card's headings
KEYWORD: Final = "keyword"  # words of a card's keywords and type
ANY: Final = "any"  # all of these, a card's summary, the headings above a chapter

WORD_FIELDS: Final = (NAME, FILE, HEADING, KEYWORD, ANY)

_LONGEST_WHOLE: Final = 300
_LONGEST_SUMMARY: Final = 240
_MOST_HEADINGS: Final = 40
_MOST_KEYWORDS: Final = 40
_DEEPEST_TAIL: Final = 6
_DOTTED: Final = (ChapterKind.METHOD, ChapterKind.FUNCTION, ChapterKind.CLASS, ChapterKind.KEY)

_RECIPE: Final = 1  # grows when the same card would make other entries
FINGERPRINT: Final = (
    "cards-"
    + hashlib.sha256(
        json.dumps([_RECIPE, NAMES_VERSION, WORD_FIELDS, sorted(Field), "tantivy 0.27"]).encode()
    ).hexdigest()[:12]
)


def build_schema() -> Schema:
    builder = SchemaBuilder()
    for field in Field:
        if field in NUMBERS:
            builder.add_integer_field(field.value, indexed=True, fast=True)
        else:
            builder.add_text_field(field.value, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(CHAPTER, fast=True)
    for name in (KIND, WHOLE, LENGTH):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in WORD_FIELDS:
        builder.add_text_field(name, tokenizer_name="spaces", index_option="basic")
    return builder.build()


def register_analyzers(index: Index) -> None:
    """Text arrives folded and split, so the engine only cuts at spaces."""
    index.register_tokenizer("spaces", TextAnalyzerBuilder(Tokenizer.whitespace()).build())


def length_step(letters: int) -> int:
    """One by one up to sixteen letters, then in steps of about an eighth."""
    if letters <= 16:
        return letters
    shift = letters.bit_length() - 4
    return 8 * shift + (letters >> shift)


def fewest_letters(step: int) -> int:
    """The shortest name of this step."""
    if step <= 16:
        return max(step, 1)
    shift = step // 8 - 1
    return (step - 8 * shift) << shift


def entries_of(state: CardIndexState, schema: Schema) -> Iterator[Document]:
    """The card's entry, then one for each named chapter that is not merely the title again."""
    card = state.card
    facets = facets_of(card)
    yield Document.from_dict(_card_entry(card, facets), schema)
    title = fold_name(_title(card))
    for chapter in state.chapters:
        if chapter.is_named and fold_name(chapter.name) != title:
            yield Document.from_dict(_chapter_entry(chapter, facets), schema)


def _card_entry(card: Card, facets: Facets) -> dict[str, object]:
    document = card.document
    path = _readable(document.path)
    folder, file = posixpath.split(path)
    stem, suffix = posixpath.splitext(file)
    title = _title(card)
    headings = card.headings[:_MOST_HEADINGS]
    keywords = card.keywords[:_MOST_KEYWORDS]

    wholes = [f"n{fold_name(title)}", f"p{fold_name(path)}", f"f{fold_name(file)}"]
    wholes += [f"p{fold_name(name)}" for name in (encode_path(document.path), document.id)]
    if suffix:
        wholes.append(f"s{fold_name(stem)}")
    wholes += [f"t{fold_name(tail)}" for tail in _tails(path)]
    wholes += [f"k{fold_name(keyword)}" for keyword in keywords]

    name, name_letters = _words([title])
    stem_words, stem_letters = _words([stem])
    file_words, _ = _words([folder, stem, suffix])
    heading_words, _ = _words(headings)
    keyword_words, _ = _words([*keywords, card.type or ""])
    summary, _ = _words([(card.summary or "")[:_LONGEST_SUMMARY]])
    return {
        **facets,
        CHAPTER: CARD_ITSELF,
        KIND: "card",
        WHOLE: _unique_wholes(wholes),
        LENGTH: [f"n{length_step(name_letters)}", f"f{length_step(stem_letters)}"],
        NAME: name,
        FILE: file_words,
        HEADING: heading_words,
        KEYWORD: keyword_words,
        ANY: _merge(name, file_words, stem_words, heading_words, keyword_words, summary),
    }


def _chapter_entry(chapter: Chapter, facets: Facets) -> dict[str, object]:
    above = chapter.path[:-1]
    wholes = [f"n{fold_name(chapter.name)}"]
    if above and chapter.kind in _DOTTED:
        wholes.append(f"d{fold_name('.'.join((above[-1], chapter.name)))}")
        wholes.append(f"d{fold_name('.'.join((*above, chapter.name)))}")
    name, letters = _words([chapter.name])
    headings_above, _ = _words(above)
    return {
        **facets,
        CHAPTER: chapter.ordinal,
        KIND: "chapter",
        WHOLE: _unique_wholes(wholes),
        LENGTH: [f"n{length_step(letters)}"],
        NAME: name,
        ANY: _merge(name, headings_above),
    }


def _title(card: Card) -> str:
    if card.document.title:
        return card.document.title
    return posixpath.splitext(posixpath.basename(_readable(card.document.path)))[0]


def _readable(path: bytes) -> str:
    return path.decode("utf-8", "replace")


def _tails(path: str) -> Iterator[str]:
    """`usecases/search.py` of `src/core/usecases/search.py`: what people type of a long path."""
    parts = path.split("/")
    for depth in range(2, min(len(parts), _DEEPEST_TAIL + 1)):
        yield "/".join(parts[-depth:])


def _unique_wholes(wholes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(_clean(whole[:_LONGEST_WHOLE]) for whole in wholes if len(whole) > 1))


def _words(texts: Iterable[str]) -> tuple[str, int]:
    """Words joined by spaces, identifiers whole and split, and how many letters the names have."""
    words: list[str] = []
    letters = 0
    for text in texts:
        for unit in name_units(text):
            words += unit.parts
            letters += unit.letters
            if unit.whole is not None:
                words.append(unit.whole)
    return _clean(" ".join(words)), letters


def _merge(*texts: str) -> str:
    return " ".join(dict.fromkeys(word for text in texts for word in text.split()))


def _clean(text: str) -> str:
    """Lone surrogates cannot be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
