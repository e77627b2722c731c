"""The one filter model, as tantivy queries."""

from __future__ import annotations

from typing import Final, assert_never

from tantivy import FieldType, Occur, Query, Schema

from armillary_core.domain.query import All, AnyOf, Eq, Field, Filter, In, Not, Range

NUMBERS: Final = (Field.DATE, Field.DOCUMENT)
_LARGEST: Final = 2**63 - 1


def compile_filter(wanted: Filter, schema: Schema) -> Query:
    """A query that holds for what the filter lets through. What a field can never hold matches nothing."""
    match wanted:
        case Eq(field, value):
            return _any_value(schema, field, (value,))
        case In(field, values):
            return _any_value(schema, field, values)
        case Range(field, low, high):
            return _range(schema, field, low, high)
        case All(parts):
            return Query.boolean_query(
                [(Occur.Must, Query.all_query()), *((Occur.Must, compile_filter(part, schema)) for part in parts)]
            )
        case AnyOf(parts):
            if not parts:
                return Query.empty_query()
            return Query.boolean_query([(Occur.Should, compile_filter(part, schema)) for part in parts])
        case Not(part):
            return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, compile_filter(part, schema))])
        case _:
            assert_never(wanted)


def _any_value(schema: Schema, field: Field, values: tuple[str | int, ...]) -> Query:
    known = [value for value in values if _is_storable(field, value)]
    if not known:
        return Query.empty_query()
    terms = [Query.term_query(schema, field.value, value, "basic") for value in known]
    return terms[0] if len(terms) == 1 else Query.boolean_query([(Occur.Should, term) for term in terms])


def _range(schema: Schema, field: Field, low: int | None, high: int | None) -> Query:
    if field not in NUMBERS:
        return Query.empty_query()
    bottom = max(-_LARGEST if low is None else low, -_LARGEST)
    top = min(_LARGEST if high is None else high, _LARGEST)
    if bottom > top:
        return Query.empty_query()
    return Query.range_query(schema, field.value, FieldType.Integer, bottom, top)


def _is_storable(field: Field, value: str | int) -> bool:
    if field in NUMBERS:
        return isinstance(value, int) and -_LARGEST <= value <= _LARGEST
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
