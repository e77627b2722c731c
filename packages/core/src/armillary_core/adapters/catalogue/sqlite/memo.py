"""Answers that stay true until the catalogue's revision moves."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
_MOST = 200


class RevisionMemo(Generic[T]):
    """Remembers what was counted over documents, chunks and vectors: every change of these moves the revision, in
    this process or another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[Hashable, tuple[int, T]] = {}

    def get(self, connection: sqlite3.Connection, question: Hashable, count: Callable[[], T]) -> T:
        """The remembered answer, or a new one from `count`, which reads the same snapshot."""
        revision: int = connection.execute("SELECT value FROM counter WHERE name = 'revision'").fetchone()[0]
        with self._lock:
            remembered = self._answers.get(question)
        if remembered is not None and remembered[0] == revision:
            return remembered[1]
        answer = count()
        with self._lock:
            if len(self._answers) >= _MOST:
                self._answers.clear()
            self._answers[question] = (revision, answer)
        return answer
