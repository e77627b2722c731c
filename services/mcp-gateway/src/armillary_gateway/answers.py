"""Answers: both channels complete, both under the cap."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent

TOKEN_BYTES = 4
DEFAULT_TOKENS = 2000
MAX_TOKENS = 8000
ERROR_META = "armillary/error"
_FRAME = 300  # room for what stands around the items of a list


def answer(text: str, structured: Mapping[str, Any]) -> CallToolResult:
    """A result whose text and structure say the same."""
    return CallToolResult(content=[TextContent(text=text)], structured_content=dict(structured))


def refusal(text: str, *, code: str = "", message: str = "") -> CallToolResult:
    """An error: text for the model, and for programs its code and its message without the model's next step."""
    meta = {ERROR_META: {"code": code, "message": message}} if code else None
    return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta=meta)


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that say something: None, "", [] and {} are left out."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {}, ())}


def size(value: object) -> int:
    """Bytes of a text, or of a value as compact JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace"))


def fitting(items: Iterable[tuple[str, object]], *, cap: int, text_used: int = 0, structure_used: int = 0) -> int:
    """How many of the (text, structure) items fit both channels; at least one, so that paging always moves."""
    count = 0
    text_left, structure_left = cap - _FRAME - text_used, cap - _FRAME - structure_used
    for text, structure in items:
        text_left -= size(text) + 1
        structure_left -= size(structure) + 1
        if count and (text_left < 0 or structure_left < 0):
            break
        count += 1
    return count


def columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
    """Column form without the columns that are empty in every row; the first column always stays."""
    kept = [
        index
        for index in range(len(names))
        if index == 0 or any(row[index] not in (None, "", [], False) for row in rows)
    ]
    return [names[index] for index in kept], [[row[index] for index in kept] for row in rows]


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The same in text: a heading line, then a line a row, fields between tabs."""
    return "\n".join("\t".join(_field(value) for value in row) for row in ([*names], *rows))


def _field(value: object) -> str:
    if value is None or value is False:
        return "-"
    if value is True:
        return "yes"
    if isinstance(value, list):
        return ", ".join(str(part) for part in value) or "-"
    return str(value) or "-"
