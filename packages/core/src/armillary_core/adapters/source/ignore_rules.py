"""Ignore files (`.gitignore` syntax) read as git reads them, and the stack of those that apply in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from armillary_core.adapters.source.patterns import glob_expression, literal_length
from armillary_core.adapters.source.small_files import read_regular

_LARGEST_IGNORE_FILE = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Rule:
    line: int  # 1-based
    text: bytes  # as written, without line end and trailing spaces
    negated: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class _Wildcards:
    """Patterns as one expression, the last rule first, so that the first that matches decides."""

    expression: re.Pattern[bytes]
    rules: tuple[int, ...]  # rule number of each group

    def find(self, text: bytes) -> int:
        matched = self.expression.fullmatch(text)
        return self.rules[matched.lastindex - 1] if matched is not None and matched.lastindex else -1


class IgnoreRules:
    """The rules of one ignore file; the last one that matches decides."""

    def __init__(self, content: bytes) -> None:
        self.rules: list[Rule] = []
        literals: dict[bool, dict[bytes, int]] = {False: {}, True: {}}  # folders_only → name → rule number
        names: list[tuple[int, bytes]] = []
        paths: list[tuple[int, bytes]] = []
        for number, text in _lines(content):
            rule, body = _parse(number, text)
            index = len(self.rules)
            self.rules.append(rule)
            if b"/" in body:
                paths.append((index, _path_expression(body)))
            elif literal_length(body) == len(body):
                literals[rule.folders_only][body] = index
            else:
                names.append((index, glob_expression(body, crosses_folders=True)))
        self._file_names = literals[False]
        self._folder_names = literals[True]
        self._names = self._both(names)
        self._paths = self._both(paths)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def find(self, path: bytes, name: bytes, *, is_folder: bool) -> Rule | None:
        """The deciding rule for a path relative to the ignore file's folder."""
        best = self._file_names.get(name, -1)
        names, paths = self._names[is_folder], self._paths[is_folder]
        if is_folder:
            best = max(best, self._folder_names.get(name, -1))
        if names is not None:
            best = max(best, names.find(name))
        if paths is not None:
            best = max(best, paths.find(path))
        return self.rules[best] if best >= 0 else None

    def _both(self, expressions: list[tuple[int, bytes]]) -> tuple[_Wildcards | None, _Wildcards | None]:
        """What applies to files, and what applies to folders."""
        files = [(index, expression) for index, expression in expressions if not self.rules[index].folders_only]
        return _wildcards(files), _wildcards(expressions)


def _wildcards(expressions: list[tuple[int, bytes]]) -> _Wildcards | None:
    if not expressions:
        return None
    latest_first = expressions[::-1]
    source = b"|".join(b"(" + expression + b")" for _, expression in latest_first)
    return _Wildcards(re.compile(source, re.DOTALL), tuple(index for index, _ in latest_first))


def _lines(content: bytes) -> list[tuple[int, bytes]]:
    lines: list[tuple[int, bytes]] = []
    for number, raw in enumerate(content.removeprefix(_BOM).split(b"\n"), start=1):
        line = raw.removesuffix(b"\r").partition(b"\0")[0]
        if line and not line.startswith(b"#"):
            lines.append((number, _without_trailing_spaces(line)))
    return lines


def _without_trailing_spaces(line: bytes) -> bytes:
    """A space is kept when a backslash stands before it."""
    end = position = 0
    while position < len(line):
        if line[position : position + 1] == b"\\":
            position += 2
            end = min(position, len(line))
        else:
            position += 1
            if line[position - 1 : position] != b" ":
                end = position
    return line[:end]


def _parse(number: int, text: bytes) -> tuple[Rule, bytes]:
    negated = text.startswith(b"!")
    body = text[1:] if negated else text
    folders_only = body.endswith(b"/")
    if folders_only:
        body = body[:-1]
    return Rule(number, text, negated, folders_only), body


def _path_expression(body: bytes) -> bytes:
    """Git compares what stands before the first wildcard literally and starts to read the pattern only there, so a
    `**` that follows a literal without a slash is read as if it stood at the start."""
    body = body.removeprefix(b"/")
    literal = literal_length(body)
    return re.escape(body[:literal]) + glob_expression(body[literal:])


@lru_cache(maxsize=2048)
def parse_ignore_file(content: bytes) -> IgnoreRules:
    """Compiled once for equal content."""
    return IgnoreRules(content)


def read_ignore_file(path: bytes) -> IgnoreRules | None:
    """None when there is nothing to read: git does not follow a link here either."""
    content = read_regular(path, _LARGEST_IGNORE_FILE)
    return parse_ignore_file(content) or None if content else None


@dataclass(frozen=True, slots=True)
class Layer:
    """One ignore file and where it lies, seen from the project root."""

    shown: bytes  # the file's own path, for people
    rules: IgnoreRules
    folder: bytes = b""  # b"docs/" for docs/.gitignore
    above: bytes = b""  # b"sub/" when the file lies above the root and the root is its folder sub/


@dataclass(frozen=True, slots=True)
class Decision:
    """An ignore file's rule and what it says about a path."""

    file: bytes
    rule: Rule

    @property
    def is_ignored(self) -> bool:
        return not self.rule.negated

    @property
    def detail(self) -> str:
        return rule_detail(self.file, self.rule.line, self.rule.text)


def rule_detail(file: bytes, line: int | bytes, text: bytes) -> str:
    """The words for a deciding rule, such as `.gitignore line 3: build/`."""
    number = line.decode("ascii", "replace") if isinstance(line, bytes) else str(line)
    return f"{os.fsdecode(file)} line {number}: {os.fsdecode(text)}"


class IgnoreStack:
    """The ignore files that apply in one folder; a deeper file wins over a higher one."""

    __slots__ = ("_layers",)

    def __init__(self, layers: Sequence[Layer] = ()) -> None:
        self._layers = tuple(layers)

    def __bool__(self) -> bool:
        return bool(self._layers)

    def with_layer(self, layer: Layer) -> IgnoreStack:
        return IgnoreStack((*self._layers, layer))

    def entering(self, root: bytes, folder: bytes, name: bytes) -> IgnoreStack:
        """The stack inside `folder` (b"" or ending in a slash), with its own ignore file when there is one."""
        rules = read_ignore_file(root + folder + name)
        return self if rules is None else self.with_layer(Layer(folder + name, rules, folder))

    def decide(self, path: bytes, name: bytes, *, is_folder: bool) -> Decision | None:
        """What decides for a path whose parents are not ignored; None when no rule matches."""
        for layer in reversed(self._layers):
            relative = layer.above + path[len(layer.folder) :] if layer.folder or layer.above else path
            rule = layer.rules.find(relative, name, is_folder=is_folder)
            if rule is not None:
                return Decision(layer.shown, rule)
        return None
