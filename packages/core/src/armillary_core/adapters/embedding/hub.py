"""Files of a pinned hub revision over HTTPS: resumable, and given up quickly where there is no way out."""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from armillary_core.adapters.embedding.registry import HubSource, ModelFile

DEFAULT_HUB = "https://huggingface.co"
ANSWER_SECONDS = 4.0  # name look-up included, which has no deadline of its own
STALL_SECONDS = 20.0
_BLOCK = 1 << 18

OnBytes = Callable[[int], None]


class HubError(Exception):
    """The file cannot be had from the hub; the message says why."""


def answers(hub: str, source: HubSource) -> bool:
    """Whether the hub knows the repository, asked with a firm deadline."""
    known = threading.Event()

    def ask() -> None:
        path = next(iter(source.members.values()))
        request = urllib.request.Request(_address(hub, source, path), method="HEAD")  # noqa: S310 - checked below
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
                if answer.status == 200:
                    known.set()
        except (OSError, http.client.HTTPException, ValueError):
            return

    if urllib.parse.urlsplit(hub).scheme not in ("https", "http"):
        return False
    threading.Thread(target=ask, daemon=True).start()
    return known.wait(ANSWER_SECONDS + 0.5)


def download(hub: str, source: HubSource, file: ModelFile, target: Path, on_bytes: OnBytes) -> None:
    """Bring `target` to its full size, going on where an earlier try stopped. Raises HubError."""
    have = target.stat().st_size if target.exists() else 0
    if have > file.size:
        target.unlink()
        have = 0
    if have == file.size:
        on_bytes(have)
        return
    headers = {"Range": f"bytes={have}-"} if have else {}
    address = _address(hub, source, source.members[file.path])
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was checked by `answers`
    try:
        with urllib.request.urlopen(request, timeout=STALL_SECONDS) as answer:  # noqa: S310
            if answer.status != 206:
                have = 0
            on_bytes(have)
            with target.open("ab" if have else "wb") as stream:
                while block := answer.read(_BLOCK):
                    have += len(block)
                    if have > file.size:
                        break
                    stream.write(block)
                    on_bytes(len(block))
    except urllib.error.HTTPError as refused:
        raise HubError(f"the hub answered {refused.code} for {file.path}") from refused
    except (OSError, http.client.HTTPException) as lost:
        raise HubError(f"the connection to the hub was lost ({file.path})") from lost
    if have != file.size:
        raise HubError(f"the hub sent {have} bytes of {file.path}, not {file.size}")


def _address(hub: str, source: HubSource, path: str) -> str:
    return f"{hub.rstrip('/')}/{source.repository}/resolve/{source.revision}/{path}"
