"""Change one group of the configuration file and leave every other line as its owner wrote it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import yaml

from armillary_core.domain.errors import SettingsError
from armillary_core.settings.load import CONFIG_VARIABLE, config_file

_TOP_KEY = re.compile(r"^(?P<key>[A-Za-z_][\w-]*)\s*:")


def choose_embedding(values: dict[str, str], named: Path | None) -> Path:
    """Write `embedding:` with these values; the file written. Raises SettingsError when it cannot be done safely."""
    file = config_file(named) or _usual_file()
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    wanted = yaml.safe_load(before) or {}
    kept = {name: value for name, value in (wanted.get("embedding") or {}).items() if name in ("threads", "fetch")}
    if values["engine"] == "none":
        kept = {}
    wanted["embedding"] = {**values, **kept}
    block = yaml.safe_dump({"embedding": wanted["embedding"]}, sort_keys=False)
    after = _with_block(before, "embedding", block)
    if yaml.safe_load(after) != wanted:
        raise SettingsError(f"{file} is written in a way that cannot be changed safely. Put this into it:\n{block}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            shutil.copy2(file, file.with_name(f"{file.name}.backup"))
        draft = file.with_name(f"{file.name}.tmp")
        draft.write_text(after, encoding="utf-8")
        draft.replace(file)
    except OSError as failed:
        raise SettingsError(f"{file} cannot be written ({failed.strerror}).") from None
    return file


def _usual_file() -> Path:
    if os.environ.get(CONFIG_VARIABLE):
        return Path(os.environ[CONFIG_VARIABLE]).expanduser()
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return home / "armillary" / "config.yaml"


def _with_block(text: str, key: str, block: str) -> str:
    """The text with the lines of one top-level key replaced, or with the block at its end."""
    lines = text.splitlines(keepends=True)
    start = next((n for n, line in enumerate(lines) if (m := _TOP_KEY.match(line)) and m["key"] == key), None)
    if start is None:
        if text and not text.endswith("\n"):
            text += "\n"
        return f"{text}{block}"
    end = start + 1
    while end < len(lines) and (lines[end][:1] in (" ", "\t") or not lines[end].strip()):
        end += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return "".join([*lines[:start], block, *lines[end:]])
