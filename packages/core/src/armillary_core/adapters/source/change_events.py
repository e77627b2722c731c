"""Change events of whole project folders, from the operating system."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from armillary_core.domain.project import ProjectName


class ChangeEvents(Protocol):
    """Used by one thread, but for `wake`."""

    @abstractmethod
    def begin(self, project: ProjectName, root: bytes) -> None:
        """Watch a folder (ending in a slash). Raises OSError when the system cannot; nothing is watched then."""

    @abstractmethod
    def end(self, project: ProjectName) -> None:
        """Watch it no more; an unknown project is a no-op."""

    @abstractmethod
    def wait(self, seconds: float) -> set[ProjectName]:
        """Projects in which something changed, as soon as something does; empty after that time or a `wake`."""

    @abstractmethod
    def wake(self) -> None:
        """Let `wait` return; from any thread."""

    @abstractmethod
    def close(self) -> None: ...
