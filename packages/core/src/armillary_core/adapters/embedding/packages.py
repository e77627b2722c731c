"""A pinned package from whichever index the user's own installer is set up for. It is never installed or imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STALL_SECONDS = 120.0
_POLL_SECONDS = 0.25

OnSize = Callable[[int], None]


class PackageError(Exception):
    """The package cannot be had; the message says what each installer said."""


@dataclass(frozen=True, slots=True)
class Wanted:
    package: str
    version: str
    platform: str | None = None  # a wheel tag such as manylinux_2_17_x86_64, for any machine

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


def fetch_package(wanted: Wanted, folder: Path, on_size: OnSize) -> Path:
    """A wheel, or a folder with its files, somewhere below `folder`. Raises PackageError.

    `on_size` hears how many bytes are there, several times a second; what it raises stops the installer.
    """
    said: list[str] = []
    for name, command in _commands(wanted, folder):
        target = folder / "wheel"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        try:
            problem = _run(command, folder, on_size)
        except OSError as failed:
            problem = str(failed)
        if problem is None:
            wheels = sorted(target.glob("*.whl"))
            return wheels[0] if wheels else target
        said.append(f"{name}: {problem}")
    raise PackageError("; ".join(said) or "neither pip nor uv was found")


def _commands(wanted: Wanted, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Every way to ask, the likeliest first. An environment made by uv has no pip of its own."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    seen: set[str] = set()
    for python in (sys.executable, base):
        if python and python not in seen and _has_pip(python):
            seen.add(python)
            yield "pip", _pip_command(python, wanted, folder)
    if uv := _find_uv():
        yield "uv", _uv_command(uv, wanted, folder)
    if not seen and (python := _make_pip(base, folder)):
        yield "pip", _pip_command(python, wanted, folder)


def _pip_command(python: str, wanted: Wanted, folder: Path) -> list[str]:
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    if wanted.platform:
        options.append(f"--platform={wanted.platform}")
    return [python, "-m", "pip", "download", *options, f"--dest={folder / 'wheel'}", wanted.requirement]


def _uv_command(uv: str, wanted: Wanted, folder: Path) -> list[str]:
    options = ["--no-deps", "--only-binary=:all:", "--no-progress"]
    if wanted.platform:
        architecture = wanted.platform.removeprefix("manylinux_2_17_")
        options.append(f"--python-platform={architecture}-manylinux_2_17")
    return [uv, "pip", "install", *options, f"--target={folder / 'wheel'}", wanted.requirement]


def _find_uv() -> str | None:
    beside = (Path(sys.prefix) / "bin" / "uv", Path(sys.prefix).parent / ".tools" / "bin" / "uv")
    return shutil.which("uv") or next((str(path) for path in beside if path.is_file()), None)


def _has_pip(python: str) -> bool:
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, timeout=30, check=False)
        return asked.returncode == 0
    return False


def _make_pip(base: str, folder: Path) -> str | None:
    """A throw-away environment with the pip that Python brings along."""
    place = folder / "pip"
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run([base, "-m", "venv", str(place)], capture_output=True, timeout=120, check=True)
        python = place / "bin" / "python"
        return str(python) if python.exists() else None
    return None


def _run(command: list[str], folder: Path, on_size: OnSize) -> str | None:
    """None when it worked, else its last words."""
    scratch = folder / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
        try:
            stalled = _watch(process, folder, on_size)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        output.seek(0)
        words = output.read().decode("utf-8", "replace").strip().splitlines()
    if stalled:
        return f"nothing arrived for {STALL_SECONDS:.0f} seconds"
    if process.returncode == 0:
        return None
    return words[-1][:300] if words else f"exit code {process.returncode}"


def _watch(process: subprocess.Popen[bytes], folder: Path, on_size: OnSize) -> bool:
    """Until it ends; True when it stopped making progress."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        now = _tree_size(folder)
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > STALL_SECONDS:
            return True
        on_size(size)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
    return False


def _tree_size(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(root) / name).stat().st_size
    return total
