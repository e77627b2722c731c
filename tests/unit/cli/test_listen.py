"""The address a server listens on."""

from __future__ import annotations

import pytest

from armillary_cli.listen import listen, url_of
from armillary_core.domain.errors import SettingsError

pytestmark = pytest.mark.enable_socket


def test_a_free_port_is_found() -> None:
    with listen("127.0.0.1", 0) as bound:
        assert url_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_taken_port_is_one_line_that_says_what_to_do() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(SettingsError, match=rf"Port {port} is taken by another program.*--port") as refused:
            listen("127.0.0.1", port)
        assert "\n" not in str(refused.value)


def test_a_server_in_the_background_takes_another_port() -> None:
    with listen("127.0.0.1", 0) as first, listen("127.0.0.1", first.getsockname()[1], any_port=True) as second:
        assert second.getsockname()[1] != first.getsockname()[1]


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no address 192\.0\.2\.1"):
        listen("192.0.2.1", 0)


def test_every_address_is_reached_through_loopback() -> None:
    with listen("0.0.0.0", 0) as bound:
        assert url_of(bound).startswith("http://127.0.0.1:")
