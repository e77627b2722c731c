"""search_docs: passages that answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, cast

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.passage import Passage, SearchAnswer
from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import Detail, Mode, Scope, SearchQuery
from armillary_core.domain.token import Right
from armillary_gateway.answers import answer, filled, fitting, size
from armillary_gateway.arguments import Cursor, FolderPath, Locale, Project, Type, Version
from armillary_gateway.auth import current_caller
from armillary_gateway.errors import cut_bytes
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.quoting import NOTICE, Quoting, fenced
from armillary_gateway.tool import READS, Tool

_TEXT_TARGET = 1490  # bytes of text for up to ten hits with snippets
_FRAME = 120  # of these, for count, notice, fence and cursor
_SHORTEST_SNIPPET = 28
_HEADING_FROM = 90  # bytes that must be left for heading and snippet; with less the snippet gets them all
_FULL = 1200  # bytes of one passage with detail=full


class Hit(TypedDict):
    id: str
    score: float
    heading: NotRequired[str]
    lines: NotRequired[str]
    page: NotRequired[int]
    snippet: NotRequired[str]
    text: NotRequired[str]
    type: NotRequired[str]
    date: NotRequired[str]
    stale: NotRequired[bool]
    also_in: NotRequired[list[str]]
    explain: NotRequired[dict[str, Any]]


class Hits(TypedDict):
    status: str
    hits: list[Hit]
    relevant: NotRequired[bool]
    notice: NotRequired[str]
    cursor: NotRequired[str]


async def search_docs(
    ctx: Context[Gateway],
    query: Annotated[str, Field(min_length=1, max_length=1000, description="Words, a question, a name or error text.")],
    mode: Literal["auto", "keyword", "semantic", "hybrid"] = "auto",
    scope: Annotated[
        Literal["content", "cards", "titles", "reference"],
        Field(description="cards = summaries and names; titles = names only; reference = API and code"),
    ] = "content",
    project: Project = None,
    type: Type = None,
    path: FolderPath = None,
    locale: Locale = None,
    version: Version = None,
    limit: Annotated[int, Field(ge=1, le=25, description="1 to 25")] = 8,
    cursor: Cursor = None,
    detail: Annotated[Literal["refs", "snippets", "full"], Field(description="full = whole passages")] = "snippets",
    explain: Annotated[bool, Field(description="Scores of each leg.")] = False,
) -> Annotated[CallToolResult, Hits]:
    """Find passages that answer a question, best first. read_doc(id) shows what surrounds one."""
    gateway, caller = gateway_of(ctx), current_caller()
    subject = "\0".join(map(str, (query, mode, scope, project, type, path, locale, version)))
    place = gateway.cursors.open("search_docs", cursor, caller=caller.name, subject=subject)
    asked = SearchQuery(
        text=query,
        mode=Mode(mode),
        scope=Scope(scope),
        project=ProjectName(project) if project is not None else None,
        type=type,
        path=path,
        locale=locale,
        version=version,
        limit=limit,
        offset=place.offset,
        detail=Detail(detail),
        explain=explain,
    )
    found = await gateway.search(asked, caller)
    place.check(found.generation)
    status = status_of(found, gateway.quoting)
    hits = hits_of(found.passages, asked.detail, gateway.quoting, used=size(status))
    lines = [line_of(hit) for hit in hits]
    shown = fitting(zip(lines, hits, strict=True), cap=gateway.cap, text_used=size(status), structure_used=size(status))
    next_offset = asked.offset + shown
    more: str | None = None
    if next_offset < found.total and shown:
        more = gateway.cursors.seal(
            "search_docs", caller=caller.name, subject=subject, generation=found.generation, numbers=(next_offset,)
        )
    return rendered(
        status,
        hits[:shown],
        lines[:shown],
        total=found.total,
        offset=asked.offset,
        cursor=more,
        is_relevant=found.relevant,
    )


def rendered(
    status: str,
    hits: list[Hit],
    lines: list[str],
    *,
    total: int,
    offset: int = 0,
    cursor: str | None = None,
    is_relevant: bool = True,
) -> CallToolResult:
    """Both channels of a list of hits; `relevant` is told when it is false: these are the nearest, not an answer."""
    span = f"{offset + 1}-{offset + len(hits)} of {total}" if offset else f"{len(hits)} of {total}"
    status = f"{span}; {status}" if hits else status
    text = [status]
    if hits:
        text.append(fenced("\n".join(lines)))
    if cursor:
        text.append(f"more: cursor={cursor}")
    return answer(
        "\n".join(text),
        filled(status=status, notice=NOTICE if hits else None, cursor=cursor)
        | {"hits": hits}
        | ({} if is_relevant else {"relevant": False}),
    )


def hits_of(passages: Sequence[Passage], detail: Detail, quoting: Quoting, *, used: int) -> list[Hit]:
    """Passages as a client sees them. Headings and snippets share what ids and lines leave of the target, so that ten
    fit it and fewer get longer ones; `used` is what else the text holds."""
    hits = [_bare(passage, quoting) for passage in passages]
    whole = _TEXT_TARGET * max(1.0, len(hits) / 10) - _FRAME - used - sum(size(line_of(hit)) + 4 for hit in hits)
    share = int(whole / len(hits)) if hits else 0
    for hit, passage in zip(hits, passages, strict=True):
        _describe(hit, passage, detail, quoting, share)
    return hits


def _bare(passage: Passage, quoting: Quoting) -> Hit:
    """Where it is and how good."""
    hit: Hit = {"id": str(passage.chapter or passage.document), "score": round(passage.score, 2)}
    rest = filled(
        lines=f"{passage.lines[0]}-{passage.lines[1]}" if passage.lines else None,
        page=passage.page,
        type=quoting.line(passage.type, 60),
        date=passage.date,
        stale=passage.stale or None,
        also_in=_also_in(passage),
        explain=_explained(passage),
    )
    return cast(Hit, {**hit, **rest})


def _describe(hit: Hit, passage: Passage, detail: Detail, quoting: Quoting, share: int) -> None:
    """What it says, in `share` bytes when only snippets are wanted."""
    heading = _heading(passage, quoting)
    if detail is Detail.SNIPPETS:
        heading = cut_bytes(heading, min(share // 3, 120)) if share >= _HEADING_FROM else ""
        room = max(_SHORTEST_SNIPPET, min(share - size(heading), 400))
        if snippet := quoting.snippet(passage.snippet, room):
            hit["snippet"] = snippet
    elif detail is Detail.FULL:
        heading = cut_bytes(heading, 200)
        hit["text"] = cut_bytes(quoting.passage(passage.text), _FULL)
    if heading:
        hit["heading"] = cut_bytes(heading, 120) if detail is Detail.REFS else heading


def _heading(passage: Passage, quoting: Quoting) -> str:
    """The heading path where it says more than the id does; the title for a whole document."""
    parts = passage.heading_path or (passage.title,)
    if passage.chapter is not None and len(parts) == 1 and _slug(parts[0]) == _slug(passage.chapter.rpartition("#")[2]):
        return ""
    if len(parts) > 1 and parts[0] == passage.title:
        parts = parts[1:]
    return quoting.line(" > ".join(parts))


def _slug(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _also_in(passage: Passage) -> list[str]:
    listed = [str(other) for other in passage.also_in[:3]]
    rest = len(passage.also_in) - len(listed)
    return [*listed, f"and {rest} more (get_card lists them)"] if rest > 0 else listed


def _explained(passage: Passage) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in (passage.explain or {}).items()
    }


def line_of(hit: Hit) -> str:
    """One hit in text: where, how good, what."""
    parts = [hit["id"]]
    if "lines" in hit:
        parts.append(f"L{hit['lines']}")
    if "page" in hit:
        parts.append(f"p.{hit['page']}")
    parts.append(f"{hit['score']:.2f}")
    if "type" in hit or "date" in hit:
        parts.append(f"[{' '.join(part for part in (hit.get('type'), hit.get('date')) if part)}]")
    if hit.get("stale"):
        parts.append("(stale card)")
    if "heading" in hit:
        parts.append(hit["heading"])
    if "also_in" in hit:
        parts.append(f"(also in {', '.join(hit['also_in'])})")
    if "explain" in hit:
        parts.append(" ".join(f"{key}={value}" for key, value in hit["explain"].items()))
    line = " ".join(parts)
    if "snippet" in hit:
        line += f" | {hit['snippet']}"
    if "text" in hit:
        line += f"\n{hit['text']}"
    return line


def status_of(found: SearchAnswer, quoting: Quoting) -> str:
    """What ran, how complete the index is, what was searched instead, why nothing was found."""
    legs = ", ".join(
        f"{leg.name} {leg.state}" + (f" ({cut_bytes(leg.reason, 100)})" if leg.reason and leg.state != "ok" else "")
        for leg in found.legs
        if leg.state != "off"
    )
    parts = [f"{found.mode}: {legs}"]
    whole = found.completeness
    if whole.pending_documents:
        parts.append(f"index incomplete: {whole.pending_documents} of {whole.documents} documents waiting")
    if whole.meaning < whole.chunks_expected and any(leg.name == "meaning" and leg.state == "ok" for leg in found.legs):
        parts.append(f"meaning knows {whole.meaning} of {whole.chunks_expected} chunks")
    if whole.held:
        parts.append(f"held, perhaps outdated: {', '.join(whole.held[:5])}")
    if found.mended:
        mended = list(found.mended.items())[:3]
        parts.append("searched " + ", ".join(f'"{right}" for "{quoting.line(typed, 40)}"' for typed, right in mended))
    for word, near in list(found.unknown.items())[:3]:
        nearest = f"; nearest: {', '.join(near[:3])}" if near else ""
        parts.append(f'no such word: "{quoting.line(word, 40)}"{nearest}')
    if not found.passages:
        parts.append("nothing found")
    elif not found.relevant:
        parts.append("nothing relevant found, the nearest are shown")
    parts.extend(quoting.line(note, 200) for note in found.notes[:4])
    return cut_bytes("; ".join(parts), 1000)


TOOL = Tool(search_docs, Right.READ, "Search documents", READS)
