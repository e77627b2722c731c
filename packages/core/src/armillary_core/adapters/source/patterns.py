"""Glob patterns exactly as git reads them, as regular expressions over bytes.

The atomic groups keep a hostile pattern such as `*a*a*a*b` linear: an early match of what stands between two stars
is never worse than a later one.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SPECIAL = frozenset(b"*?[\\")
_NEVER = rb"(?!)"
_CLASSES: dict[bytes, bytes] = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb"\t ",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t-\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


def literal_length(pattern: bytes) -> int:
    """How many bytes stand before the first wildcard or backslash."""
    for position, char in enumerate(pattern):
        if char in _SPECIAL:
            return position
    return len(pattern)


def glob_expression(pattern: bytes, *, crosses_folders: bool = False) -> bytes:
    """The source of an expression for `fullmatch`; with `crosses_folders` a star may match a slash."""
    tokens = _tokens(pattern, crosses_folders)
    return _NEVER if tokens is None else _joined(tokens)


@lru_cache(maxsize=1024)
def path_pattern(text: bytes) -> re.Pattern[bytes]:
    """A pattern of the settings, for the relative path of a file or folder: without a slash it is about the name
    anywhere, a literal end names a folder's whole content as well, and a suffix compares case-insensitively."""
    body = text.removesuffix(b"/")
    anchored = b"/" in body
    body = body.removeprefix(b"/")
    if text.endswith(b"/**"):
        body = body.removesuffix(b"/**")
    last = body.rpartition(b"/")[2]
    below = rb"(?:/.*)?" if literal_length(last) == len(last) or text.endswith((b"/**", b"/")) else b""
    stem, dot, suffix = body.rpartition(b".")
    if dot and stem and suffix.isalnum():
        expression = glob_expression(stem) + rb"\.(?i:" + re.escape(suffix) + rb")"
        if stem.endswith(b"\\"):  # the dot itself was escaped
            expression = glob_expression(body)
    else:
        expression = glob_expression(body)
    start = b"" if anchored else rb"(?:.*/)?"
    return re.compile(start + expression + below, re.DOTALL)


def _tokens(pattern: bytes, crosses_folders: bool) -> list[tuple[str, bytes]] | None:
    """Kinds: "one" matches exactly one byte, "slash" is a slash, "star" stays inside a folder name, "any" is
    everything, "deep" is any number of whole folders. None when the pattern can never match."""
    tokens: list[tuple[str, bytes]] = []
    position, end = 0, len(pattern)
    while position < end:
        char = pattern[position : position + 1]
        if char == b"\\":
            position += 1
            if position == end:
                return None
            char = pattern[position : position + 1]
            tokens.append(("slash", b"/") if char == b"/" else ("one", re.escape(char)))
            position += 1
        elif char == b"?":
            tokens.append(("one", b"." if crosses_folders else b"[^/]"))
            position += 1
        elif char == b"*":
            start = position
            while position < end and pattern[position : position + 1] == b"*":
                position += 1
            tokens.append(_star(pattern, start, position, crosses_folders))
            if tokens[-1][0] == "deep":
                position += 1
        elif char == b"[":
            found = _bracket(pattern, position, crosses_folders)
            if found is None:
                return None
            expression, position = found
            tokens.append(("one", expression))
        else:
            tokens.append(("slash", b"/") if char == b"/" else ("one", re.escape(char)))
            position += 1
    return tokens


def _star(pattern: bytes, start: int, end: int, crosses_folders: bool) -> tuple[str, bytes]:
    if crosses_folders:
        return ("any", b"")
    bounded_left = start == 0 or pattern[start - 1 : start] == b"/"
    if end - start >= 2 and bounded_left:
        rest = pattern[end : end + 2]
        if rest[:1] == b"/":
            return ("deep", b"")
        if not rest or rest == b"\\/":
            return ("any", b"")
    return ("star", b"")


def _bracket(pattern: bytes, position: int, crosses_folders: bool) -> tuple[bytes, int] | None:
    """The expression of a bracket and where it ends; None when it is malformed."""
    position += 1
    negated = pattern[position : position + 1] in (b"!", b"^")
    if negated:
        position += 1
    members: list[bytes] = []
    previous: int | None = None
    first = True
    while first or pattern[position : position + 1] != b"]":
        first = False
        if position >= len(pattern):
            return None
        char = pattern[position]
        if char == 0x5C:  # backslash
            position += 1
            if position >= len(pattern):
                return None
            char = pattern[position]
            members.append(_member(char))
            previous = char
        elif char == 0x2D and previous is not None and pattern[position + 1 : position + 2] not in (b"", b"]"):
            position += 1
            char = pattern[position]
            if char == 0x5C:
                position += 1
                if position >= len(pattern):
                    return None
                char = pattern[position]
            if previous <= char:
                members.append(_member(previous) + b"-" + _member(char))
            previous = None
        elif char == 0x5B and pattern[position + 1 : position + 2] == b":":
            close = pattern.find(b"]", position + 2)
            if close < 0:
                return None
            if close - 1 < position + 2 or pattern[close - 1 : close] != b":":
                members.append(_member(char))
                previous = char
            else:
                named = _CLASSES.get(pattern[position + 2 : close - 1])
                if named is None:
                    return None
                members.append(named)
                position = close
                previous = None
        else:
            members.append(_member(char))
            previous = char
        position += 1
    inside = b"".join(members)
    if negated:
        expression = b"[^" + inside + (b"" if crosses_folders else b"/") + b"]"
    else:
        guard = b"" if crosses_folders else b"(?!/)"
        expression = guard + (b"[" + inside + b"]" if inside else _NEVER)
    return expression, position + 1


def _member(char: int) -> bytes:
    return b"\\x%02x" % char


def _joined(tokens: list[tuple[str, bytes]]) -> bytes:
    """Cut at what may match several bytes; every stretch but the last of its kind is atomic."""
    blocks: list[list[tuple[str, bytes]]] = [[]]
    openers: list[str] = [""]
    for token in tokens:
        if token[0] in ("deep", "any"):
            blocks.append([])
            openers.append(token[0])
        else:
            blocks[-1].append(token)
    parts: list[bytes] = []
    for number, (opener, block) in enumerate(zip(openers, blocks, strict=True)):
        body = _folder_names(block)
        last = number == len(blocks) - 1
        if not opener:
            parts.append(body)
        elif opener == "deep":
            parts.append(rb"(?:.*/)?" + body if last else rb"(?>(?:.*?/)??" + body + rb")")
        else:
            parts.append(rb".*" + body if last else rb"(?>.*?" + body + rb")")
    return b"".join(parts)


def _folder_names(block: list[tuple[str, bytes]]) -> bytes:
    parts: list[bytes] = []
    for names in _split(block, "slash"):
        pieces = [b"".join(expression for _, expression in piece) for piece in _split(names, "star")]
        text = pieces[0]
        for number, piece in enumerate(pieces[1:], start=2):
            text += rb"[^/]*" + piece if number == len(pieces) else rb"(?>[^/]*?" + piece + rb")"
        parts.append(text)
    return b"/".join(parts)


def _split(tokens: list[tuple[str, bytes]], kind: str) -> list[list[tuple[str, bytes]]]:
    pieces: list[list[tuple[str, bytes]]] = [[]]
    for token in tokens:
        if token[0] == kind:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces
