"""The facets of a document: what every engine can filter by."""

from __future__ import annotations

import datetime
from typing import TypeAlias

from armillary_core.domain.card import Card
from armillary_core.domain.document import folder_hashes
from armillary_core.domain.query import Field

Facets: TypeAlias = dict[str, str | int | list[str] | list[int]]  # by domain.query.Field

_EPOCH = datetime.date(1970, 1, 1)


def facets_of(card: Card) -> Facets:
    """The filterable fields of a document; absent ones are left out."""
    document = card.document
    fields: dict[Field, str | int | list[str] | list[int] | None] = {
        Field.PROJECT: document.project,
        Field.TYPE: card.type,
        Field.FOLDERS: folder_hashes(document.path),
        Field.MEDIA_TYPE: document.media_type,
        Field.LOCALE: document.locale,
        Field.VERSION: document.version,
        Field.DATE: days_since_epoch(card.date),
        Field.STATE: [state.value for state in card.states],
        Field.DOCUMENT: document.pk,
    }
    return {field.value: value for field, value in fields.items() if value is not None}


def days_since_epoch(date: str | None) -> int | None:
    """Days since 1970-01-01 of YYYY-MM-DD; None when there is no valid date."""
    try:
        return (datetime.date.fromisoformat(date) - _EPOCH).days if date else None
    except ValueError:
        return None
