"""Words for people on standard output, JSON for scripts, one line for what went wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def say(text: str = "") -> None:
    """One line to standard output; what the terminal cannot show becomes '?'."""
    stream = sys.stdout
    try:
        stream.write(f"{text}\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(f"{text.encode(encoding, 'replace').decode(encoding)}\n")
    stream.flush()


def complain(text: str) -> None:
    sys.stderr.write(f"armillary: {text}\n")
    sys.stderr.flush()


def say_json(value: object) -> None:
    say(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """A table that fits the terminal; plain columns when the output goes elsewhere."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="" if "NO_COLOR" in os.environ else "bold", show_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200).print(table)


def is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if is_terminal() and "NO_COLOR" not in os.environ else text


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if is_terminal() and "NO_COLOR" not in os.environ else text


def tilde(path: str | Path) -> str:
    """A path as a person writes it."""
    home = str(Path.home())
    text = os.fspath(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return f"~{text[len(home) :]}" if text == home or text.startswith(f"{home}/") else text


def size(count: int) -> str:
    """Bytes in words: 34 MB."""
    number = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def command_path() -> str:
    """The absolute path of this command, for programs that start it."""
    here = Path(sys.argv[0])
    if here.name != "armillary":
        here = Path(sys.executable).with_name("armillary")
    return os.path.abspath(here)  # noqa: PTH100 - links stay as they are: the environment is found by its path


def command_name() -> str:
    """How to type this command again: by name when it is on PATH, by path when it is not."""
    import shutil

    here = Path(command_path())
    found = shutil.which("armillary")
    if found is not None and Path(found).resolve() == here.resolve():
        return "armillary"
    try:
        return str(here.relative_to(Path.cwd()))
    except ValueError:
        return tilde(here)


def data_option(data: Path) -> str:
    """What has to follow a command so that it uses this data folder: nothing when it is the usual one."""
    import shlex

    from armillary_core.settings.model import Settings

    usual: Path = Settings.model_fields["data"].default
    if data == usual.expanduser():
        return ""
    shown = tilde(data)
    home = "~/" if shown.startswith("~/") else ""
    return f" --data {home}{shlex.quote(shown.removeprefix(home))}"
