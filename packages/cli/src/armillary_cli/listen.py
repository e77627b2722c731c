"""The address a server listens on, taken before anything slow begins."""

from __future__ import annotations

import errno
import socket

from armillary_core.domain.errors import SettingsError


def listen(bind: str, port: int, *, any_port: bool = False) -> socket.socket:
    """A bound socket. With `any_port` a taken port is replaced by a free one. Raises SettingsError."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    # The protocol is named on purpose: asyncio switches Nagle's delay off only on sockets that say TCP, and with it
    # every answer of two writes waits 40 ms for the other side's acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((bind, port))
        bound.listen(128)
        bound.set_inheritable(False)
    except OSError as failed:
        bound.close()
        if failed.errno == errno.EADDRINUSE and any_port and port:
            return listen(bind, 0)
        raise SettingsError(_words(failed, bind, port)) from None
    return bound


def url_of(bound: socket.socket) -> str:
    """How this machine reaches it."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - every address: the loopback one is among them
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _words(failed: OSError, bind: str, port: int) -> str:
    match failed.errno:
        case errno.EADDRINUSE:
            return (
                f"Port {port} is taken by another program. Choose another one with --port "
                "(`make run PORT=8421`), or stop that program."
            )
        case errno.EACCES:
            return f"Port {port} may not be used by this user. Choose one above 1023 with --port."
        case errno.EADDRNOTAVAIL:
            return f"This machine has no address {bind}. Choose another one with --bind, 0.0.0.0 for all."
        case _:
            return f"Cannot listen on {bind}, port {port}: {failed.strerror}."
