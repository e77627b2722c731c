"""`armillary version`."""

from __future__ import annotations

from armillary_cli.options import JsonOption


def version(as_json: JsonOption = False) -> None:
    """Print the versions of Armillary and what it stands on."""
    from armillary_cli.console import say, say_json
    from armillary_core.bootstrap.versions import versions

    found = versions()
    if as_json:
        say_json(found)
    else:
        for name, number in found.items():
            say(f"{name:<12} {number}")
