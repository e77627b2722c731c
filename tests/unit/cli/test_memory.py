"""Few heaps for many threads."""

from __future__ import annotations

import platform

from armillary_cli.memory import limit_heaps


def test_it_takes_effect_with_glibc_and_is_harmless_elsewhere() -> None:
    assert limit_heaps() is (platform.libc_ver()[0] == "glibc")
