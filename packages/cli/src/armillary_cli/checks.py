"""What `armillary doctor` looks at; each check says what it found and the way out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from armillary_cli.client import is_alive
from armillary_cli.console import size, tilde
from armillary_cli.owner import find_owner
from armillary_core.bootstrap.catalogue import catalogue_path, open_catalogue, prepare_data_folder
from armillary_core.bootstrap.embedding import check, chosen_model
from armillary_core.domain.errors import AppError, SettingsError
from armillary_core.settings.model import FastembedEmbedding, Settings

ROOM_BYTES = 1_000_000_000
WATCHES = 65_536


class Verdict(StrEnum):
    OK = "ok"
    NOTE = "note"  # works, with less
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    verdict: Verdict
    words: str
    way_out: str = ""


def python_version(settings: Settings) -> Finding:
    words = f"{sys.version.split()[0]} at {sys.executable}"
    return Finding("python", Verdict.OK if sys.version_info >= (3, 11) else Verdict.FAULT, words)


def git(settings: Settings) -> Finding:
    if shutil.which("git") is None:
        return Finding(
            "git", Verdict.NOTE, "not found: folders are walked and ignore files read by Armillary", "Install git."
        )
    said = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False, timeout=10)
    return Finding("git", Verdict.OK, said.stdout.strip())


def data_folder(settings: Settings) -> Finding:
    try:
        prepare_data_folder(settings)
    except SettingsError as refused:
        return Finding("data folder", Verdict.FAULT, refused.message)
    free = shutil.disk_usage(settings.data).free
    words = f"{tilde(settings.data)}, {size(free)} free"
    if free < ROOM_BYTES:
        return Finding("data folder", Verdict.NOTE, words, "Make room: an index takes about as much as its text.")
    return Finding("data folder", Verdict.OK, words)


def catalogue(settings: Settings) -> Finding:
    if not catalogue_path(settings).exists():
        return Finding("catalogue", Verdict.NOTE, "there is none yet", "armillary up DIR")
    try:
        with open_catalogue(settings) as opened:
            projects = opened.projects.all()
    except AppError as failed:
        return Finding("catalogue", Verdict.FAULT, failed.message)
    return Finding("catalogue", Verdict.OK, f"opens, {len(projects)} projects")


def projects(settings: Settings) -> Finding:
    if not catalogue_path(settings).exists():
        return Finding("projects", Verdict.NOTE, "none yet")
    try:
        with open_catalogue(settings) as opened:
            gone = [project for project in opened.projects.all() if not Path(project.root).is_dir()]
    except AppError as failed:
        return Finding("projects", Verdict.FAULT, failed.message)
    if gone:
        words = ", ".join(f"{project.name} ({tilde(project.root)})" for project in gone)
        return Finding(
            "projects",
            Verdict.FAULT,
            f"folder is missing: {words}",
            "Mount it again, or `armillary projects remove NAME`.",
        )
    return Finding("projects", Verdict.OK, "every folder is there")


def server(settings: Settings) -> Finding:
    owner = find_owner(settings.data)
    if owner is None:
        return Finding("server", Verdict.NOTE, "does not run", "armillary up")
    if not is_alive(owner.url):
        return Finding(
            "server",
            Verdict.FAULT,
            f"process {owner.pid} does not answer at {owner.url}",
            "armillary stop, then up again",
        )
    return Finding("server", Verdict.OK, f"answers at {owner.url} (process {owner.pid})")


def model(settings: Settings) -> Finding:
    if not isinstance(settings.embedding, FastembedEmbedding):
        return Finding("model", Verdict.NOTE, "search by meaning is switched off")
    wrong = check(settings, chosen_model(settings))
    if wrong is None:
        return Finding("model", Verdict.OK, f"{chosen_model(settings)} is complete")
    return Finding("model", Verdict.NOTE, wrong)


def watching(settings: Settings) -> Finding:
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    if not limit.exists():
        return Finding("watching", Verdict.OK, "this system needs no limit")
    allowed = int(limit.read_text(encoding="ascii"))
    if allowed < WATCHES:
        return Finding(
            "watching",
            Verdict.NOTE,
            f"{allowed:,} folders may be watched; more are found by the rescan every ten minutes",
            f"sysctl fs.inotify.max_user_watches={WATCHES * 8}",
        )
    return Finding("watching", Verdict.OK, f"{allowed:,} folders may be watched")


CHECKS: tuple[Callable[[Settings], Finding], ...] = (
    python_version,
    git,
    data_folder,
    catalogue,
    projects,
    server,
    model,
    watching,
)
