"""Running git on a work tree that may be hostile: nothing the repository configures is executed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence


class GitError(Exception):
    """Git could not answer; the words say why. The caller lists the folder without it."""


def git_command(top: bytes, arguments: Sequence[bytes]) -> list[bytes]:
    """`top` is the work tree's real path: git refuses trees of other users unless it is named."""
    return [
        b"git",
        b"-c",
        b"safe.directory=" + top,
        b"-c",
        b"core.fsmonitor=false",
        b"-c",
        b"core.hooksPath=/dev/null",
        b"-c",
        b"core.untrackedCache=false",
        *arguments,
    ]


def git_environment() -> dict[str, str]:
    """No GIT_ variable of ours, no configuration of the system or user, no locks, no prompt, no network."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept.pop("LANGUAGE", None)
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch what it lacks, by a command of its choice
        "HOME": "/dev/null",  # ~/.config/git/ignore applies even without a configuration
        "XDG_CONFIG_HOME": "/dev/null",
        "LC_ALL": "C",
    }


class GitRun:
    """One git process; several may run at once."""

    def __init__(self, top: bytes, folder: bytes, *arguments: bytes, feed: bytes | None = None) -> None:
        """Raises GitError when git cannot be started."""
        self._feed = feed
        try:
            self._process = subprocess.Popen(
                git_command(top, arguments),
                cwd=folder,
                env=git_environment(),
                stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError as exc:
            raise GitError("git is not installed") from exc
        except OSError as exc:
            raise GitError(f"git could not be started: {exc.strerror or exc}") from exc

    def output(self, *, seconds: float = 60.0, accepted: Sequence[int] = (0,)) -> tuple[bytes, bytes]:
        """Standard output and standard error. Raises GitError."""
        try:
            out, complaints = self._process.communicate(self._feed, timeout=seconds)
        except subprocess.TimeoutExpired as exc:
            self.stop()
            raise GitError(f"git did not answer within {seconds:.0f} s") from exc
        except BaseException:
            self.stop()
            raise
        if self._process.returncode not in accepted:
            words = complaints.decode("utf-8", "replace").strip().splitlines()
            said = next((line for line in words if line.startswith(("fatal:", "error:"))), words[0] if words else "")
            raise GitError(said.removeprefix("fatal: ") or f"git ended with code {self._process.returncode}")
        return out, complaints

    def stop(self) -> None:
        """End the process if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


def run_git(top: bytes, folder: bytes, *arguments: bytes, accepted: Sequence[int] = (0,)) -> bytes:
    """Raises GitError."""
    return GitRun(top, folder, *arguments).output(accepted=accepted)[0]
