"""Python source: module code, functions, classes and methods."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.decoding import Decoded, decode, with_line_feeds
from armillary_core.adapters.formats.plain_text import from_paragraphs
from armillary_core.adapters.formats.plain_words import shortened
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings

_MOST_NAMES: Final = 200
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS: Final = ("body", "orelse", "finalbody")


class PythonExtractor(Extractor):
    """Each definition is a chapter with its decorators and the comment above it; so is the code between them."""

    media_types: ClassVar[frozenset[str]] = frozenset({"text/x-python"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ()

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Source that does not parse is read as plain text, with a note."""
        decoded = _decode_source(source.content)
        # Form feeds count as white space for the parser; Python's other line ends are none for it.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(decoded.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
            where = f" in line {exc.lineno}" if isinstance(exc, SyntaxError) and exc.lineno else ""
            return from_paragraphs(decoded, f"not valid Python{where}: read as plain text")
        lines = decoded.text.split("\n")
        headings = _as_headings(list(_marks(tree.body, (), lines)), lines)
        docstring = ast.get_docstring(tree)
        return ExtractedText(
            text=decoded.text,
            chapters=chapters_from_headings(decoded.text, headings, preamble=ChapterKind.MODULE),
            charset=decoded.charset,
            base=BaseLayer(
                headings=tuple([heading.name for heading in headings if heading.name][:_MOST_NAMES]),
                summary=shortened(" ".join(docstring.split("\n\n")[0].split())) if docstring else None,
            ),
            note=decoded.note,
        )


def _decode_source(content: bytes) -> Decoded:
    """By the coding line when there is one that Python knows, else as any text."""
    try:
        charset, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if charset not in ("utf-8", "utf-8-sig"):
            return Decoded(with_line_feeds(content.decode(charset)), charset)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        pass
    return decode(content)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line where another owner's code begins; `name` is empty for module code."""

    line: int
    name: str
    kind: ChapterKind
    level: int


def _marks(body: Sequence[ast.stmt], owners: tuple[str, ...], lines: Sequence[str]) -> Iterator[_Mark]:
    owner = ".".join(owners)
    kind = ChapterKind.CLASS if owners else ChapterKind.MODULE
    plain = _Mark(0, owner, kind, len(owners))
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
            line = _with_comment(first, lines)
            name = f"{owner}.{statement.name}" if owner else statement.name
            if isinstance(statement, ast.ClassDef):
                yield _Mark(line, name, ChapterKind.CLASS, len(owners) + 1)
                yield from _marks(statement.body, (*owners, statement.name), lines)
            else:
                yield _Mark(line, name, ChapterKind.METHOD if owners else ChapterKind.FUNCTION, len(owners) + 1)
            continue
        yield _Mark(_with_comment(statement.lineno, lines), plain.name, plain.kind, plain.level)
        for block in _BLOCKS:
            inner = getattr(statement, block, None)
            if isinstance(inner, list) and any(isinstance(each, _DEFINITIONS) for each in inner):
                yield from _marks(inner, owners, lines)
        for handler in getattr(statement, "handlers", []):
            if any(isinstance(each, _DEFINITIONS) for each in handler.body):
                yield from _marks(handler.body, owners, lines)


def _with_comment(line: int, lines: Sequence[str]) -> int:
    """The line, or the first of the comment lines right above it."""
    while line > 1 and lines[line - 2].lstrip().startswith("#") and not lines[line - 2].startswith("#!"):
        line -= 1
    return line


def _as_headings(marks: Sequence[_Mark], lines: Sequence[str]) -> list[Heading]:
    """One heading for each change of owner, at most one a line."""
    headings: list[Heading] = []
    last_owner, last_line = "", 0
    for mark in marks:
        line = max(mark.line, last_line)
        if mark.name == last_owner or line > len(lines):
            continue
        module = mark.kind is ChapterKind.MODULE
        if headings and headings[-1].line == line:
            headings.pop()
        headings.append(
            Heading(
                line=line,
                level=mark.level,
                name=mark.name,
                kind=mark.kind,
                anchor=f"L{line}" if module else mark.name,
            )
        )
        last_owner, last_line = mark.name, line
    return headings
