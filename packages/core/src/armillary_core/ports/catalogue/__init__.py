"""The durable record and only source of truth. Every method blocks: call it in a thread.

Every writing method is one transaction of its own unless it says otherwise, and is durable when it returns as far as
its docstring promises. No method does network I/O. Methods are safe to call from several threads and processes.
"""

from __future__ import annotations

from typing import Protocol

from armillary_core.ports.catalogue.cards import CardStore
from armillary_core.ports.catalogue.documents import DocumentStore
from armillary_core.ports.catalogue.generations import GenerationStore
from armillary_core.ports.catalogue.ingest import IngestStore
from armillary_core.ports.catalogue.jobs import JobLedger
from armillary_core.ports.catalogue.outbox import Outbox
from armillary_core.ports.catalogue.projects import ProjectStore
from armillary_core.ports.catalogue.terms import TermStore
from armillary_core.ports.catalogue.tokens import TokenStore
from armillary_core.ports.catalogue.vectors import VectorCache

__all__ = [
    "CardStore",
    "Catalogue",
    "DocumentStore",
    "GenerationStore",
    "IngestStore",
    "JobLedger",
    "Outbox",
    "ProjectStore",
    "TermStore",
    "TokenStore",
    "VectorCache",
]


class Catalogue(Protocol):
    @property
    def projects(self) -> ProjectStore: ...
    @property
    def documents(self) -> DocumentStore: ...
    @property
    def ingest(self) -> IngestStore: ...
    @property
    def cards(self) -> CardStore: ...
    @property
    def jobs(self) -> JobLedger: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def terms(self) -> TermStore: ...
    @property
    def vectors(self) -> VectorCache: ...
    @property
    def generations(self) -> GenerationStore: ...
    @property
    def tokens(self) -> TokenStore: ...

    def changes(self) -> int:
        """A number that is another one after every write by any process; microseconds, from one thread only, so
        that a loop may look often and do nothing while nothing happens."""

    def secret(self, name: str) -> bytes:
        """32 random bytes made once under this name (cursor MAC key) and the same ever after."""

    def backup(self, target: str) -> None:
        """Write a complete, consistent copy to a new file at `target`."""

    def close(self) -> None: ...
