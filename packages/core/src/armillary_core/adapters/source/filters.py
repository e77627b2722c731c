"""What the project's settings leave out, by name and size: one chain for every way of listing and for `explain`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from armillary_core.adapters.source.junk import junk_folder
from armillary_core.adapters.source.patterns import path_pattern
from armillary_core.domain.ingest import SkipRule
from armillary_core.domain.project import ProjectSettings

Check: TypeAlias = Callable[[bytes, bytes], "str | None"]  # (path, name) → why it is left out
Verdict: TypeAlias = "tuple[SkipRule, str]"

# Compared with the name in lower case. Examples of an .env file hold no secret.
_SECRETS: dict[str, bytes] = {
    ".env": rb"\.env(?:\.(?!(?:example|sample|template|dist)$).*)?",
    "*.pem": rb".*\.pem",
    "*.key": rb".*\.key",
    "id_*": rb"id_[^.]*|id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?\..*",
    "credentials*": rb"credentials.*",
    ".netrc": rb"[._]netrc",
    ".npmrc": rb"\.npmrc",
    ".pypirc": rb"\.pypirc",
    ".pgpass": rb"\.pgpass",
    ".htpasswd": rb"\.htpasswd",
    ".git-credentials": rb"\.git-credentials",
    "*.kdbx": rb".*\.kdbx?",
    "*.p12": rb".*\.p12",
    "*.pfx": rb".*\.pfx",
    "*.jks": rb".*\.(?:jks|keystore)",
    "*.ppk": rb".*\.ppk",
}
_SECRET_NAMES = tuple(_SECRETS)
_SECRET = re.compile(b"|".join(b"(" + expression + b")" for expression in _SECRETS.values()), re.DOTALL)


class Filters:
    """The checks that one project's settings switch on, in the order in which they decide."""

    def __init__(self, settings: ProjectSettings) -> None:
        self._settings = settings
        self._ignored_folders = _Patterns(settings.ignore_dirs)
        self._ignored_files = _Patterns(settings.ignore_files)
        self._included = _Patterns(settings.include)
        folder_checks: list[tuple[SkipRule, Check]] = [(SkipRule.JUNK_DIR, lambda _, name: junk_folder(name))]
        file_checks: list[tuple[SkipRule, Check]] = []
        if not settings.include_hidden:
            folder_checks.append((SkipRule.HIDDEN, self._hidden))
        if not settings.include_secrets:
            file_checks.append((SkipRule.SECRET, _secret))
        if not settings.include_hidden:
            file_checks.append((SkipRule.HIDDEN, self._hidden))
        if self._ignored_folders:
            folder_checks.append((SkipRule.IGNORE_DIRS, self._in_ignored_folders))
        if self._ignored_files:
            file_checks.append((SkipRule.IGNORE_FILES, self._in_ignored_files))
        if self._included:
            file_checks.append((SkipRule.NOT_INCLUDED, self._not_included))
        self.folder_checks: Sequence[tuple[SkipRule, Check]] = tuple(folder_checks)
        self.file_checks: Sequence[tuple[SkipRule, Check]] = tuple(file_checks)

    def folder(self, path: bytes, name: bytes) -> Verdict | None:
        """Why a folder (path without a slash at the end) is not entered."""
        for rule, check in self.folder_checks:
            detail = check(path, name)
            if detail is not None:
                return rule, detail
        return None

    def file(self, path: bytes, name: bytes) -> Verdict | None:
        """Why a file is no document, by its name."""
        for rule, check in self.file_checks:
            detail = check(path, name)
            if detail is not None:
                return rule, detail
        return None

    def size(self, size: int) -> str | None:
        """Why a file is too large."""
        limit = self._settings.max_file_bytes
        return f"{size:,} bytes; max_file_bytes is {limit:,}" if size > limit else None

    @staticmethod
    def _hidden(_: bytes, name: bytes) -> str | None:
        return "the name begins with a dot; include_hidden lets it in" if name.startswith(b".") else None

    def _in_ignored_folders(self, path: bytes, _: bytes) -> str | None:
        return self._ignored_folders.find(path)

    def _in_ignored_files(self, path: bytes, _: bytes) -> str | None:
        return self._ignored_files.find(path)

    def _not_included(self, path: bytes, _: bytes) -> str | None:
        return None if self._included.find(path) else f"no include pattern matches: {self._included.words}"


def _secret(_: bytes, name: bytes) -> str | None:
    matched = _SECRET.fullmatch(name.lower())
    if matched is None or matched.lastindex is None:
        return None
    return f"a secret by its name ({_SECRET_NAMES[matched.lastindex - 1]}); include_secrets lets it in"


class _Patterns:
    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text for text in texts if text.strip("/ ")]
        self._expressions = [path_pattern(os.fsencode(text)) for text in self._texts]

    def __bool__(self) -> bool:
        return bool(self._texts)

    @property
    def words(self) -> str:
        return ", ".join(self._texts)

    def find(self, path: bytes) -> str | None:
        """The first pattern that matches."""
        for text, expression in zip(self._texts, self._expressions, strict=True):
            if expression.fullmatch(path):
                return text
        return None
