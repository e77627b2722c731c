"""What one transaction changes beside its documents: term counts, totals, languages, revisions and outbox rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from armillary_core.adapters.catalogue.sqlite.codec import clean
from armillary_core.adapters.catalogue.sqlite.rows import Connection
from armillary_core.domain.chunk import CARD_ORDINAL
from armillary_core.ports.catalogue.outbox import Engine

AVERAGE_DOCUMENTS = 200  # a project's average length comes from its first so many documents
AVERAGE_DRIFT = 0.2


@dataclass(slots=True)
class ProjectChange:
    """Sums over the chunks and documents that one transaction adds to and takes from one project."""

    project: int
    terms: Counter[int] = field(default_factory=Counter)
    words: dict[int, str] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    texts: int = 0

    def take_chunks(self, connection: Connection, pks: Iterable[int], *, card_only: bool = False) -> None:
        """Delete the chunks of these documents and count them out."""
        taken: Counter[int] = Counter()
        for pk in pks:
            low, high = pk << 20 | (CARD_ORDINAL if card_only else 0), pk << 20 | CARD_ORDINAL
            rows = connection.execute(
                "SELECT ids, length, text_hash IS NOT NULL FROM chunk WHERE key BETWEEN ? AND ?", (low, high)
            ).fetchall()
            for ids, length, has_text in rows:
                taken.update(memoryview(ids).cast("I"))
                self.chunks -= 1
                self.tokens -= length
                self.texts -= has_text
            if rows:
                connection.execute("DELETE FROM chunk WHERE key BETWEEN ? AND ?", (low, high))
        self.terms.subtract(taken)

    def take_document(self, language: str | None) -> None:
        self.documents -= 1
        if language:
            self.languages[language] -= 1

    def add_document(self, language: str | None) -> None:
        self.documents += 1
        if language:
            self.languages[language] += 1

    def apply(self, connection: Connection) -> None:
        """Write the sums; a term or language that is nowhere any more is no row."""
        project, words = self.project, self.words
        more = sorted((token, count) for token, count in self.terms.items() if count > 0)
        less = sorted((token, -count) for token, count in self.terms.items() if count < 0)
        connection.executemany(
            "INSERT INTO term (token, project, word, chunks) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (token, project) DO UPDATE SET chunks = chunks + excluded.chunks",
            [(token, project, clean(words.get(token, "")), count) for token, count in more],
        )
        if less:
            connection.executemany(
                "UPDATE term SET chunks = chunks - ? WHERE token = ? AND project = ?",
                [(count, token, project) for token, count in less],
            )
            connection.executemany(
                "DELETE FROM term WHERE token = ? AND project = ? AND chunks <= 0",
                [(token, project) for token, _ in less],
            )
        changed = [(project, language, count) for language, count in self.languages.items() if count]
        if changed:
            connection.executemany(
                "INSERT INTO language (project, language, documents) VALUES (?, ?, ?) "
                "ON CONFLICT (project, language) DO UPDATE SET documents = documents + excluded.documents",
                changed,
            )
            connection.execute("DELETE FROM language WHERE project = ? AND documents <= 0", (project,))
        connection.execute(
            "UPDATE project SET documents = documents + ?, chunks = chunks + ?, tokens = tokens + ?, texts = texts + ? "
            "WHERE id = ?",
            (self.documents, self.chunks, self.tokens, self.texts, project),
        )


def next_revisions(connection: Connection, count: int) -> range:
    """Revisions that no row has had; they grow in the order of commits."""
    return _take(connection, "revision", count)


def next_pks(connection: Connection, count: int) -> range:
    return _take(connection, "document", count)


def _take(connection: Connection, name: str, count: int) -> range:
    (last,) = connection.execute(
        "UPDATE counter SET value = value + ? WHERE name = ? RETURNING value", (count, name)
    ).fetchall()[0]
    return range(last - count + 1, last + 1)


def tell(connection: Connection, revisions: Mapping[int, int], engines: Sequence[Engine] = tuple(Engine)) -> None:
    """Outbox rows for documents by pk; a newer revision begins with no attempts."""
    connection.executemany(
        "INSERT INTO outbox (engine, document, revision) VALUES (?, ?, ?) ON CONFLICT (engine, document) "
        "DO UPDATE SET revision = excluded.revision, attempts = 0, error = NULL",
        [(engine.value, pk, revision) for engine in engines for pk, revision in revisions.items()],
    )


def tell_again(connection: Connection, pks: Sequence[int], engines: Sequence[Engine] = tuple(Engine)) -> None:
    """Outbox rows with new revisions for documents that did not change themselves."""
    if pks:
        tell(connection, dict(zip(pks, next_revisions(connection, len(pks)), strict=True)), engines)


def settle_average(connection: Connection, project: int) -> bool:
    """Remember the true average length when none is remembered or it drifted; in the second case the chunk index
    hears of every document of the project, and the answer is True."""
    documents, chunks, tokens, indexed = connection.execute(
        "SELECT documents, chunks, tokens, indexed_average FROM project WHERE id = ?", (project,)
    ).fetchone()
    if not chunks:
        return False
    true = tokens / chunks
    drifted = indexed is not None and abs(true - indexed) > AVERAGE_DRIFT * indexed
    connection.execute(
        "UPDATE project SET indexed_average = ?, average_documents = ? WHERE id = ?",
        (true if drifted or indexed is None else indexed, documents, project),
    )
    if drifted:
        rows = connection.execute("SELECT pk FROM document WHERE project = ? AND present = 1", (project,))
        tell_again(connection, [pk for (pk,) in rows], (Engine.CHUNKS,))
    return drifted


def settle_early_average(connection: Connection, project: int) -> None:
    """settle_average once the project has its first documents together, and not before."""
    documents, at = connection.execute(
        "SELECT documents, average_documents FROM project WHERE id = ?", (project,)
    ).fetchone()
    if documents >= AVERAGE_DOCUMENTS > at:
        settle_average(connection, project)
