"""Tool schemas without what says nothing: they are read by every agent at every start."""

from __future__ import annotations

from typing import Any

_NAMES = frozenset({"properties", "patternProperties", "$defs"})  # their keys are names, not keywords
_VALUES = frozenset({"default", "examples", "enum", "const", "required"})


def lean(schema: Any) -> Any:
    """The schema without generated titles and docstrings, and without `null` beside what an argument may be."""
    if isinstance(schema, list):
        return [lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = _without_null(schema)
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _NAMES and isinstance(value, dict):
            found[key] = {name: lean(part) for name, part in value.items()}
        elif key in _VALUES:
            found[key] = value
        else:
            found[key] = lean(value)
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional argument is one that may be left out; that null means the same need not be said."""
    options = schema.get("anyOf")
    if not isinstance(options, list):
        return schema
    kept = [option for option in options if option != {"type": "null"}]
    if len(kept) == len(options) or not kept:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf" and not (key == "default" and value is None)}
    return {**kept[0], **rest} if len(kept) == 1 else {"anyOf": kept, **rest}
