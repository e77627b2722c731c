"""The one filter model, in Qdrant Edge's words."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from qdrant_edge import (
    FieldCondition,
    HasIdCondition,
    HasVectorCondition,
    IsEmptyCondition,
    IsNullCondition,
    MatchAny,
    MatchValue,
    NestedCondition,
    RangeFloat,
)
from qdrant_edge import Filter as EdgeFilter

from armillary_core.domain.query import All, AnyOf, Eq, Filter, In, Not, Range

# Every kind the engine takes, since its lists are of exactly this type.
Condition: TypeAlias = (
    FieldCondition
    | IsEmptyCondition
    | IsNullCondition
    | HasIdCondition
    | HasVectorCondition
    | NestedCondition
    | EdgeFilter
)


def compile_filter(wanted: Filter) -> EdgeFilter:
    """A filter the engine applies inside its search. What a field can never hold matches nothing."""
    condition = _condition(wanted)
    return condition if isinstance(condition, EdgeFilter) else EdgeFilter(must=[condition])


def _condition(wanted: Filter) -> Condition:
    match wanted:
        case Eq(field, value):
            return FieldCondition(key=field.value, match=MatchValue(value)) if _is_storable(value) else _nothing()
        case In(field, values):
            return _any_value(field.value, values)
        case Range(field, low, high):
            return FieldCondition(key=field.value, range=RangeFloat(gte=low, lte=high))
        case All(parts):
            return _all_of(parts)
        case AnyOf(parts):
            return EdgeFilter(should=[_condition(part) for part in parts]) if parts else _nothing()
        case Not(part):
            return EdgeFilter(must_not=[_condition(part)])
        case _:
            assert_never(wanted)


def _all_of(parts: tuple[Filter, ...]) -> Condition:
    """One flat filter: nested ones cost the engine its shortcuts."""
    must = [_condition(part) for part in parts if not isinstance(part, Not)]
    must_not = [_condition(part.part) for part in parts if isinstance(part, Not)]
    return EdgeFilter(must=must or None, must_not=must_not or None)


def _any_value(key: str, values: tuple[str | int, ...]) -> Condition:
    """One list holds values of one type only, so words and numbers are two conditions."""
    words = [value for value in values if isinstance(value, str) and _is_storable(value)]
    numbers = [value for value in values if isinstance(value, int)]
    found: list[Condition] = [FieldCondition(key=key, match=MatchAny(part)) for part in (words, numbers) if part]
    if not found:
        return _nothing()
    return found[0] if len(found) == 1 else EdgeFilter(should=found)


def _nothing() -> Condition:
    """An empty `should` would match everything."""
    return HasIdCondition(set())


def _is_storable(value: str | int) -> bool:
    """Lone surrogates cannot be stored, so nothing holds them."""
    return isinstance(value, int) or not any("\ud800" <= letter <= "\udfff" for letter in value)
