"""YAML, TOML, JSON and INI: a chapter for each top-level key or section."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.decoding import decode
from armillary_core.adapters.formats.plain_text import from_paragraphs
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings

_MOST_KEYS: Final = 200
_LONGEST_KEY: Final = 200
_WORD: Final = re.compile(r"\w")
_TOML_QUOTED: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_TOML_SECTION: Final = re.compile(r"^[ \t]*\[{1,2}[ \t]*([\w\-.\"' ]+?)[ \t]*\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)
_TOML_KEY: Final = re.compile(r"^(?:([\w-]+)|\"([^\"\n]+)\"|'([^'\n]+)')[ \t]*(?:\.[^=\n]*)?=", re.MULTILINE)
_INI_SECTION: Final = re.compile(r"^\[([^\]\n]+)\]", re.MULTILINE)
_JSON_SPACE: Final = re.compile(r"[ \t\n]*")


class ConfigKeysExtractor(Extractor):
    """Keys become the outline. What does not parse is read as plain text, with a note; nothing is ever executed."""

    media_types: ClassVar[frozenset[str]] = frozenset(
        {"application/yaml", "application/toml", "application/json", "text/x-ini"}
    )
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("yaml",)

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Never refuses."""
        decoded = decode(source.content)
        suffix = source.name.lower().rpartition(".")[2]
        if suffix in ("yaml", "yml"):
            kind, read = "YAML", _yaml_keys
        elif suffix == "toml":
            kind, read = "TOML", _toml_keys
        elif suffix in ("ini", "cfg", "editorconfig", "gitconfig"):
            kind, read = "INI", _ini_keys
        else:
            kind, read = "JSON", _json_keys
        try:
            found = read(decoded.text)
        except (ValueError, RecursionError) as exc:
            reason = str(exc).splitlines()[0][:120] if str(exc) else "nested too deep"
            return from_paragraphs(decoded, f"not valid {kind} ({reason}): read as plain text")
        headings = _as_headings(decoded.text, found)
        if not headings:
            return from_paragraphs(decoded)
        return ExtractedText(
            text=decoded.text,
            chapters=chapters_from_headings(decoded.text, headings),
            charset=decoded.charset,
            base=BaseLayer(headings=tuple([heading.name for heading in headings[:_MOST_KEYS]])),
            note=decoded.note,
        )


_Keys = Iterable[tuple[int, str]]  # line from 1, name


def _as_headings(text: str, keys: _Keys) -> list[Heading]:
    """A heading for each line that begins one key; the comment right above it is its own."""
    by_line: dict[int, list[str]] = {}
    for line, name in keys:
        by_line.setdefault(line, []).append(name[:_LONGEST_KEY])
    lines = text.split("\n") if by_line else []
    headings: list[Heading] = []
    for line in sorted(by_line):
        if len(by_line[line]) > 1:
            continue  # several keys in one line: the line belongs to the key before
        first = line
        while first > 1 and lines[first - 2].lstrip().startswith(("#", ";")):
            first -= 1
        if headings and first <= headings[-1].line:
            first = line
        if not headings and not any(_WORD.search(above) for above in lines[: first - 1]):
            first = 1  # nothing but a bracket or a document mark stands above
        headings.append(Heading(first, 1, by_line[line][0], ChapterKind.KEY))
    return headings


def _yaml_keys(text: str) -> _Keys:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    keys: list[tuple[int, str]] = []
    try:
        for root in yaml.compose_all(text, Loader=loader):  # nodes only: no tag is looked up, no alias expanded
            if isinstance(root, yaml.MappingNode):
                keys.extend(
                    (key.start_mark.line + 1, key.value) for key, _ in root.value if isinstance(key, yaml.ScalarNode)
                )
    except yaml.YAMLError as exc:
        raise ValueError(str(getattr(exc, "problem", None) or exc)) from exc
    return keys


def _toml_keys(text: str) -> _Keys:
    values = tomllib.loads(text)
    bare = _TOML_QUOTED.sub(_without_lines, text)
    sections = [
        (line, match.group(1).strip())
        for line, match in _with_lines(bare, _TOML_SECTION)
        if _leads_somewhere(values, match.group(1))
    ]
    first = sections[0][0] if sections else bare.count("\n") + 2
    keys = [(line, next(filter(None, match.groups()))) for line, match in _with_lines(bare, _TOML_KEY) if line < first]
    return [(line, name) for line, name in keys if name in values] + sections


def _with_lines(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Matches with the line each begins in, counted once through the text."""
    line, counted = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield line, match


def _without_lines(match: re.Match[str]) -> str:
    """A quoted text as it is when it stays on its line; else only its line ends."""
    text = match.group()
    return "\n" * text.count("\n") if "\n" in text else text


def _leads_somewhere(values: Mapping[str, object], dotted: str) -> bool:
    at: object = values
    for part in re.findall(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)", dotted):
        name = next((each for each in part if each), "")
        if isinstance(at, list):
            at = at[0] if at else {}
        if not isinstance(at, Mapping) or name not in at:
            return isinstance(at, Mapping) and bool(at) and at is not values
        at = at[name]
    return True


def _json_keys(text: str) -> _Keys:
    decoder = json.JSONDecoder()
    at = _space(text, 0)
    if text[at : at + 1] != "{":
        json.loads(text) if text.strip() else None
        return []
    keys: list[tuple[int, str]] = []
    line, counted = 1, 0
    at = _space(text, at + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise ValueError(f"a key was expected at character {at}")
        line += text.count("\n", counted, at)
        counted = at
        name, at = scanstring(text, at + 1, False)
        keys.append((line, name))
        at = _space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"':' was expected at character {at}")
        _, at = decoder.raw_decode(text, _space(text, at + 1))
        at = _space(text, at)
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
            if text[at : at + 1] == "}":
                raise ValueError(f"a comma too many before character {at}")
        elif text[at : at + 1] != "}":
            raise ValueError(f"',' or '}}' was expected at character {at}")
    if text[at + 1 :].strip():
        raise ValueError(f"more than one value: character {at + 1}")
    return keys


def _space(text: str, at: int) -> int:
    match = _JSON_SPACE.match(text, at)
    return match.end() if match else at


def _ini_keys(text: str) -> Sequence[tuple[int, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    try:
        parser.read_string(text if text.lstrip().startswith("[") else f"[_]\n{text}")
    except configparser.Error as exc:
        raise ValueError(str(exc).replace("\n", " ")) from exc
    return [(line, match.group(1)) for line, match in _with_lines(text, _INI_SECTION)]
