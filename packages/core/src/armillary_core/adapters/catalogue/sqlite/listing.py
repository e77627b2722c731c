"""A CardListing as SQL."""

from __future__ import annotations

from armillary_core.adapters.catalogue.sqlite.rows import NAMED_PROJECTS, json_list
from armillary_core.domain.document import decode_path
from armillary_core.ports.catalogue.cards import CardListing

Parameter = str | bytes | int
_STATES = {
    "stale": "d.present = 1 AND d.enrichment <> 1",  # empty or stale
    "empty": "d.present = 1 AND d.enrichment = 0",
    "enriched": "d.present = 1 AND d.enrichment = 1",
    "desync": "d.present = 0",
    "diverged": "d.present = 1 AND d.diverged_from IS NOT NULL",
    "failed": "d.present = 1 AND d.state = 'failed'",
}
_ORDERS = {
    "path": "p.name, d.path",
    "date": "d.date IS NULL, d.date DESC, p.name, d.path",  # newest first
    "title": "d.title_order IS NULL, d.title_order, p.name, d.path",
}


def diverged_from_one_of(projects: str) -> str:
    """Condition over `document d`: its flag names a document of these projects."""
    return (
        "EXISTS (SELECT 1 FROM json_each(d.diverged_from) former JOIN document o ON o.pk = former.value "
        f"WHERE o.project IN {projects})"
    )


def compile_listing(listing: CardListing) -> tuple[str, list[Parameter], str]:
    """Condition over `document d`, its parameters, and an order over `document d` and `project p`."""
    conditions = [f"d.project IN {NAMED_PROJECTS}"]
    parameters: list[Parameter] = [json_list(listing.projects)]
    if listing.state is not None:
        conditions.append(_STATES.get(listing.state, "0"))
        if listing.state == "diverged" and listing.seen is not None:
            conditions.append(diverged_from_one_of(NAMED_PROJECTS))
            parameters.append(json_list(listing.seen))
    for column, value in (("type", listing.type), ("locale", listing.locale), ("version", listing.version)):
        if value is not None:
            conditions.append(f"d.{column} = ?")
            parameters.append(value)
    path = decode_path(listing.path.replace("\\", "/")).strip(b"/") if listing.path else b""
    if path:
        conditions.append("(d.path = ? OR (d.path >= ? AND d.path < ?))")
        parameters += [path, path + b"/", path + b"0"]  # '0' follows '/'
    for bound, comparison in ((listing.since, ">="), (listing.until, "<=")):
        if bound:
            conditions.append(f"d.date {comparison} ?")
            parameters.append(bound)
    return " AND ".join(conditions), parameters, _ORDERS.get(listing.sort, _ORDERS["path"])
