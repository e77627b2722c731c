"""The block of metadata at the head of a page: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_BLOCK: Final = re.compile(
    r"\A(?P<mark>---|\+\+\+)[ \t]*\n(?P<body>.*?)^(?P=mark)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_LONGEST: Final = 65_536
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_SPLIT: Final = re.compile(r"\s*[,;]\s*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a page says of itself. `end` is the offset of the first character after the block, 0 without one."""

    end: int = 0
    lines: int = 0
    values: Mapping[str, object] = field(default_factory=dict)
    note: str | None = None

    def text(self, *names: str) -> str | None:
        """The first of the named values that is a text or a number."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                words = " ".join(str(value).split())
                if words:
                    return words[:2000]
        return None

    def words(self, *names: str) -> tuple[str, ...]:
        """The first of the named values that is a list, or a text separated by commas."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                value = _SPLIT.split(value)
            if isinstance(value, list):
                found = (" ".join(str(item).split()) for item in value[:100] if isinstance(item, (str, int, float)))
                return tuple(dict.fromkeys(word[:200] for word in found if word))
        return ()

    def date(self, *names: str) -> str | None:
        """The first of the named values that is a calendar date, as YYYY-MM-DD."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, datetime.date):
                return value.isoformat()[:10]
            match = _DATE.match(value) if isinstance(value, str) else None
            if match:
                try:
                    return datetime.date(*map(int, match.groups())).isoformat()
                except ValueError:
                    continue
        return None

    @property
    def locale(self) -> str | None:
        value = self.values.get("lang") or self.values.get("locale") or self.values.get("language")
        return value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else None


def read_front_matter(text: str) -> FrontMatter:
    """The block at the very beginning; one that cannot be read stays text, with a note."""
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    match = _BLOCK.match(text[: _LONGEST * 2])
    if match is None or match.end() > _LONGEST:
        return FrontMatter()
    body = match.group("body")
    lines = text.count("\n", 0, match.end()) + (not match.group().endswith("\n"))
    try:
        values = _yaml(body) if match.group("mark") == "---" else tomllib.loads(body)
    except (ValueError, RecursionError) as exc:
        reason = str(exc).splitlines()[0] if str(exc) else "nested too deep"
        return FrontMatter(match.end(), lines, note=f"front matter could not be read ({reason[:120]})")
    if values is None:
        return FrontMatter(match.end(), lines) if not body.strip() else FrontMatter()
    if not isinstance(values, dict):
        return FrontMatter()  # a rule, a text and a rule: a page that merely begins with a line
    return FrontMatter(match.end(), lines, {str(name).lower(): value for name, value in values.items()})


def _yaml(body: str) -> object:
    import yaml  # late: 15 ms that most workers never need

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(body, Loader=loader)  # noqa: S506 - a safe loader: plain values only
    except yaml.YAMLError as exc:
        raise ValueError(str(getattr(exc, "problem", None) or exc)) from exc
