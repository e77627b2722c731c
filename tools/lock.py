"""The locks: `python tools/lock.py [--check] [--upgrade]`. One file a set, for every platform, with hashes.

uv's own lock is not kept: it names the index that it was made with, and these files must install from any.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".tools" / "bin" / "uv"
MEMBERS = ("packages/cli", "packages/core", "services/indexer", "services/mcp-gateway", "services/web")
OWN = ("armillary-core", "armillary-cli", "armillary-indexer", "armillary-gateway", "armillary-web")
SETS: dict[str, list[str]] = {
    "requirements.lock": [*(f"{member}/pyproject.toml" for member in MEMBERS), "--group", "build"],
    "requirements-dev.lock": [
        *(f"{member}/pyproject.toml" for member in MEMBERS),
        *("--group", "build", "--group", "dev"),
    ],
    "requirements-tools.lock": ["--group", "tools"],
}


def main() -> int:
    check = "--check" in sys.argv
    outdated: list[str] = []
    for name, sources in SETS.items():
        with tempfile.TemporaryDirectory() as scratch:
            made = Path(scratch) / name
            if (ROOT / name).exists() and "--upgrade" not in sys.argv:
                shutil.copy(ROOT / name, made)
            done = compile_lock(made, sources)
            if done.returncode != 0:
                if check and is_offline(done.stderr):
                    print("lock: no package index within reach, not checked")
                    return 0
                print(done.stderr, file=sys.stderr)
                return 1
            if not check:
                shutil.copy(made, ROOT / name)
            elif made.read_text() != (ROOT / name).read_text():
                outdated.append(name)
    if outdated:
        print(f"lock: {', '.join(outdated)} are out of date. Run: make lock", file=sys.stderr)
    return 1 if outdated else 0


def compile_lock(target: Path, sources: list[str]) -> subprocess.CompletedProcess[str]:
    command = [str(UV), "pip", "compile", *sources, "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--python-version", "3.11", "--quiet", "--output-file", str(target)]
    command += [part for name in OWN for part in ("--no-emit-package", name)]
    command += ["--upgrade"] if "--upgrade" in sys.argv else []
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def is_offline(words: str) -> bool:
    signs = ("error sending request", "Could not connect", "dns error", "timed out", "Network is unreachable")
    return any(sign.lower() in words.lower() for sign in signs)


if __name__ == "__main__":
    sys.exit(main())
