"""From the filters of a query to one that every engine applies, within the projects the caller may see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from armillary_core.domain.card import checked_date
from armillary_core.domain.document import decode_path, path_hash
from armillary_core.domain.errors import InvalidRequestError, UnknownFacetError
from armillary_core.domain.facets import days_since_epoch
from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import All, Eq, Field, Filter, In, Range, SearchQuery
from armillary_core.ports.catalogue import Catalogue
from armillary_core.usecases.resolve import shown

_NAMED_VALUES = 20


def filter_of(query: SearchQuery, projects: Sequence[ProjectName], catalogue: Catalogue) -> Filter:
    """`projects` are those asked of the visible ones; a query without filters still gets this one.

    Raises UnknownFacetError, InvalidRequestError.
    """
    parts: list[Filter] = [within(projects)]
    if query.type:
        _check("type", query.type, catalogue.projects.types(projects))
        parts.append(Eq(Field.TYPE, query.type))
    asked = ((Field.LOCALE, query.locale), (Field.VERSION, query.version), (Field.MEDIA_TYPE, query.media_type))
    if any(value for _, value in asked):
        facets = catalogue.projects.facets(projects)
        for name, value in asked:
            if value:
                _check(name.value, value, facets.get(name.value, {}))
                parts.append(Eq(name, value))
    if folder := _folder(query.path):
        parts.append(Eq(Field.FOLDERS, path_hash(decode_path(folder))))
    since, until = _bound("since", query.since), _bound("until", query.until)
    if since is not None and until is not None and since > until:
        raise InvalidRequestError(f"since {query.since} is after until {query.until}: nothing can lie between them.")
    if since is not None or until is not None:
        parts.append(Range(Field.DATE, since, until))
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def within(projects: Sequence[ProjectName]) -> Filter:
    """Documents of these projects."""
    return Eq(Field.PROJECT, projects[0]) if len(projects) == 1 else In(Field.PROJECT, tuple(projects))


def is_narrowed(query: SearchQuery) -> bool:
    """Whether anything but the project narrows the query."""
    return any((query.type, query.path, query.media_type, query.locale, query.version, query.since, query.until))


def _check(field: str, value: str, known: Iterable[str]) -> None:
    values = sorted(known)
    if value in values:
        return
    if not values:
        raise UnknownFacetError(f'No document has a {field}; leave out {field}="{shown(value, 60)}".')
    listed = ", ".join(shown(one, 60) for one in values[:_NAMED_VALUES])
    more = f" and {len(values) - _NAMED_VALUES} more (get_cosmos lists them)" if len(values) > _NAMED_VALUES else ""
    raise UnknownFacetError(f'No document has the {field} "{shown(value, 60)}". There are: {listed}{more}.')


def _folder(path: str | None) -> str:
    return (path or "").strip().replace("\\", "/").removeprefix("./").strip("/")


def _bound(field: str, text: str | None) -> int | None:
    if text is None or not text.strip():
        return None
    try:
        return days_since_epoch(checked_date(text.strip()))
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{field}: {error.message}") from error
