"""Dead links in the documents of this project: `python tools/links.py`. Files and anchors, not the web."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def dead_links() -> list[str]:
    """One line for each link that leads nowhere."""
    found: list[str] = []
    for page in pages():
        text = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
        for match in _LINK.finditer(text):
            target = match[1] or match[2]
            if "://" in target or target.startswith("mailto:"):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists():
                found.append(f"{page.relative_to(ROOT)}: {target} is not there")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                found.append(f"{page.relative_to(ROOT)}: {target} has no such heading")
    return found


def anchors(page: Path) -> set[str]:
    """As GitHub makes them."""
    found: dict[str, int] = {}
    result: set[str] = set()
    for line in _FENCE.sub("", page.read_text(encoding="utf-8")).splitlines():
        if match := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            base = re.sub(r"[^\w\- ]", "", match[1].lower()).replace(" ", "-")
            number = found.get(base, 0)
            found[base] = number + 1
            result.add(f"{base}-{number}" if number else base)
    return result


if __name__ == "__main__":
    lines = dead_links()
    print("\n".join(lines), file=sys.stderr)
    sys.exit(1 if lines else 0)
