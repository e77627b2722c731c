"""Which Host and Origin a request may carry: protection against pages that point a name at this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_KEPT = 50
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class RefusedHost:
    """One refused name, for the status page."""

    at: float
    header: str  # Host or Origin
    value: str


class RefusedHosts:
    """The last refused names and how many there were in all."""

    def __init__(self) -> None:
        self._last: deque[RefusedHost] = deque(maxlen=_KEPT)
        self.count = 0

    def add(self, header: str, value: str, *, at: float) -> None:
        self.count += 1
        printable = "".join(character if character.isprintable() else "?" for character in value[:_SHOWN])
        self._last.append(RefusedHost(at, header, printable))

    def recent(self) -> list[RefusedHost]:
        """Newest first."""
        return list(reversed(self._last))


@dataclass(frozen=True, slots=True)
class BadHost:
    status: int
    header: str
    value: str
    message: str


class HostCheck:
    """Exactly the loopback names and the configured ones pass; a name without a port passes with any."""

    def __init__(self, public_hosts: Iterable[str] = ()) -> None:
        self._allowed: set[tuple[str, int | None]] = {(name, None) for name in LOOPBACK_NAMES}
        for entry in public_hosts:
            parsed = split_host(entry.strip())
            if parsed is not None:
                self._allowed.add(parsed)

    def __call__(self, scope: Scope) -> BadHost | None:
        """None when the request may pass."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1:
            return BadHost(421, "Host", f"{len(hosts)} Host headers", "Send exactly one Host header.")
        host = hosts[0].decode("latin-1")
        parsed = split_host(host)
        if parsed is None or not self._passes(parsed):
            return BadHost(
                421, "Host", host, "This server does not answer to that host name. Add it to the setting public_hosts."
            )
        for origin in (value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"):
            if not self._origin_passes(origin):
                return BadHost(
                    403,
                    "Origin",
                    origin,
                    "Pages of that origin may not call. Add its name to the setting public_hosts.",
                )
        return None

    def _passes(self, host: tuple[str, int | None]) -> bool:
        return host in self._allowed or (host[0], None) in self._allowed

    def _origin_passes(self, origin: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            return False
        parsed = split_host(parts.netloc)
        return parsed is not None and self._passes(parsed)


def split_host(text: str) -> tuple[str, int | None] | None:
    """(name, port) of a Host value: lower case, no trailing dot, no brackets; None when it is not one."""
    if not text or len(text) > 300 or any(character in text for character in " /\\@?#\t\r\n,"):
        return None
    port_text: str | None
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None
        port_text = rest[1:] if rest else None
    elif text.count(":") > 1:
        name, port_text = text, None  # an IPv6 address in the settings, without brackets
    else:
        name, colon, rest = text.partition(":")
        port_text = rest if colon else None
    name = name.lower().removesuffix(".")
    if not name:
        return None
    if port_text is None:
        return name, None
    if not (port_text.isascii() and port_text.isdigit()) or int(port_text) > 65_535:
        return None
    return name, int(port_text)
