"""Titles that stand in a question: `find` in "list old files with find"."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from armillary_core.ports.catalogue.documents import Label
from armillary_core.text.names import name_words
from armillary_core.text.query import is_small_word

_MOST_WORDS: Final = 3  # of a longer title, a question seldom has all words by intention
_MOST_CHARS: Final = 60
_NO_NAMES: Final = frozenset({"readme", "index", "main", "init", "overview", "introduction", "usage"})  # of files


def titled(text: str, labels: Mapping[int, Label]) -> set[int]:
    """The documents whose whole title, or file name, is among the words of the question."""
    asked = frozenset(name_words(text))
    return {
        pk
        for pk, label in labels.items()
        if any(words and words <= asked for words in (_title(label.title), _file_name(label.path)))
    }


@lru_cache(maxsize=8192)
def _title(title: str | None) -> frozenset[str]:
    """Its words; none when they would say nothing in a question."""
    if not title or len(title) > _MOST_CHARS or title.count(" ") >= _MOST_WORDS:
        return frozenset()
    words = frozenset(name_words(title))
    return words if not all(map(is_small_word, words)) else frozenset()


@lru_cache(maxsize=8192)
def _file_name(path: bytes) -> frozenset[str]:
    name = posixpath.basename(path.decode("utf-8", "replace"))
    words = _title(posixpath.splitext(name)[0])
    return frozenset() if words <= _NO_NAMES else words
