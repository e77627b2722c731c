"""A client's JSON file: one entry is set, the rest stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from armillary_core.domain.errors import SettingsError


def entry_text(group: str, name: str, entry: dict[str, Any]) -> str:
    return json.dumps({group: {name: entry}}, indent=2)


def set_entry(file: Path, group: str, name: str, entry: dict[str, Any]) -> Path | None:
    """Set `group.name`; the backup, None when there was no file. Raises SettingsError."""
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    try:
        values = json.loads(before) if before.strip() else {}
        if not isinstance(values, dict) or not isinstance(values.get(group, {}), dict):
            raise ValueError("it does not hold an object")
    except ValueError as failed:
        raise SettingsError(
            f"{file} is not plain JSON ({failed}), so it is left as it is. Paste what `armillary connect` prints."
        ) from None
    values.setdefault(group, {})[name] = entry
    return replace(file, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def replace(file: Path, text: str) -> Path | None:
    """Put text into a file in one step, with a backup of what was there. Links are followed, rights are kept.

    A file that says this already is left alone, and so is the backup of what it said before.
    """
    target = file.resolve() if file.exists() else file
    try:
        if target.exists() and target.read_bytes() == text.encode():
            return None
        target.parent.mkdir(parents=True, exist_ok=True)
        backup: Path | None = None
        draft = target.with_name(f"{target.name}.armillary-tmp")
        if target.exists():
            backup = target.with_name(f"{target.name}.before-armillary")
            shutil.copy2(target, backup)
            shutil.copy2(target, draft)
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    except OSError as failed:
        raise SettingsError(f"{file} cannot be written ({failed.strerror}).") from None
    return backup
