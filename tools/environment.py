"""Makes `.venv` from a lock: `python tools/environment.py run|dev`. Runs before anything is installed.

A pinned uv goes into `.tools`, the locked packages with their hashes into `.venv`, and the workspace's members beside
them. Nothing is done when the lock and the members' metadata are what they were.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS, VENV = ROOT / ".tools", ROOT / ".venv"
MEMBERS = ("packages/core", "services/indexer", "services/mcp-gateway", "services/web", "packages/cli")
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}
TOOLS_LOCK = "requirements-tools.lock"
OLDEST = (3, 11)


def main() -> None:
    kind = sys.argv[1] if len(sys.argv) > 1 else "run"
    if sys.version_info < OLDEST:
        fail(f"This is Python {sys.version.split()[0]}, 3.11 or newer is needed. Name it: make PYTHON=python3.12")
    wanted = fingerprint(kind)
    if any(stamp(other).is_file() and stamp(other).read_text() == fingerprint(other) for other in enough_for(kind)):
        return
    print(f"Making the environment for `{kind}` in {VENV} (a minute or two, once)…", flush=True)
    uv = install_uv()
    if not works(VENV / "bin" / "python"):
        run(uv, "venv", "--clear", "--quiet", "--python", sys.executable, str(VENV))
    for other in LOCKS:
        stamp(other).unlink(missing_ok=True)
    run(uv, "pip", "sync", "--quiet", "--require-hashes", LOCKS[kind])
    members = [part for member in MEMBERS for part in ("--editable", member)]
    run(uv, "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *members)
    stamp(kind).write_text(wanted)


def enough_for(kind: str) -> tuple[str, ...]:
    """What is made for `dev` holds everything of `run`."""
    return ("run", "dev") if kind == "run" else (kind,)


def fingerprint(kind: str) -> str:
    """Of the lock, the members' metadata and the interpreter."""
    files = [ROOT / LOCKS[kind], *(ROOT / member / "pyproject.toml" for member in MEMBERS)]
    digest = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def stamp(kind: str) -> Path:
    return VENV / f".made-for-{kind}"


def install_uv() -> str:
    uv = TOOLS / "bin" / "uv"
    pinned = (ROOT / TOOLS_LOCK).read_text()
    mark = TOOLS / ".made-from"
    if works(uv) and mark.is_file() and mark.read_text() == pinned:
        return str(uv)
    shutil.rmtree(TOOLS, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        shutil.rmtree(TOOLS, ignore_errors=True)
        fail(
            f"{sys.executable} cannot make environments: its `venv` module is incomplete. On Debian and Ubuntu: "
            f"apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        )
    pip = [str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--require-hashes", "--requirement", TOOLS_LOCK)
    mark.write_text(pinned)
    return str(uv)


def works(program: Path) -> bool:
    """Whether a program that was installed here still starts; an environment breaks when its Python is removed."""
    try:
        return subprocess.run([str(program), "--version"], capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        return False


def run(*command: str) -> None:
    environment = {**os.environ, "VIRTUAL_ENV": str(VENV)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode != 0:
        fail(f"`{' '.join(command[:4])} …` failed; the lines above say why. Is a package index within reach?")


def fail(words: str) -> None:
    print(f"armillary: {words}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
