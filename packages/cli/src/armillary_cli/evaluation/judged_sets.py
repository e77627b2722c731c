"""Judged sets as they lie in a folder: documents, questions, judgements, and the tasks that are scored."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAYOUT = 4  # a change in how documents become files unpacks every set anew
_LANGUAGE_FOLDER = re.compile(r"[a-z]{2}")
_WITHOUT_SUFFIX = frozenset({"tldr"})  # document ids are paths without ".md"


@dataclass(frozen=True, slots=True)
class Task:
    """Questions of some groups against documents of one prefix; `name` is that of the baselines."""

    name: str
    groups: tuple[str, ...] = ()  # () = every question
    prefix: str | None = None
    part: str | None = None  # search in this part of the set only


TASKS: dict[str, tuple[Task, ...]] = {
    "tldr": (
        Task("tldr nl2bash", ("nl2bash",)),
        Task("tldr nl2bash-named", ("nl2bash-named",)),
        Task("tldr ru-desc+ru-task", ("ru-desc", "ru-task")),
    ),
    "k8s_docs": (
        Task("k8s_docs so", ("so",)),
        Task("k8s_docs ru-title+ru-sentence", ("ru-title", "ru-sentence")),
    ),
    "xquad": (
        Task("xquad en→en", ("en",), "en-", "en"),
        Task("xquad ru→ru", ("ru",), "ru-", "ru"),
        Task("xquad zh→zh", ("zh",), "zh-", "zh"),
        Task("xquad ru→en", ("ru",), "en-", "en"),
    ),
    "fastapi_docs": (Task("fastapi_docs ru→en", (), "en/", "en"), Task("fastapi_docs ru→ru", (), "ru/", "ru")),
}


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedSet:
    name: str
    folder: Path
    split: str

    @property
    def questions_file(self) -> Path:
        return self.folder / self.split / "queries.jsonl"

    @property
    def judgements_file(self) -> Path:
        return self.folder / self.split / "qrels.tsv"

    @property
    def tasks(self) -> tuple[Task, ...]:
        return TASKS.get(self.name, (Task(self.name),))

    @property
    def wants_spans(self) -> bool:
        """Scored by the characters that passages cover, not by documents."""
        return not self.judgements_file.is_file()

    def questions(self) -> list[Question]:
        rows = (json.loads(line) for line in self.questions_file.read_text(encoding="utf-8").splitlines() if line)
        return [Question(str(row["id"]), row["text"], row.get("group")) for row in rows]

    def corpus(self) -> Path:
        return next(path for name in ("corpus.jsonl.gz", "corpus.tar.gz") if (path := self.folder / name).is_file())


def find_sets(data: Path, split: str, names: list[str]) -> list[JudgedSet]:
    """Those asked for in the order asked, or every set that has questions in this split."""
    folders = [data / name for name in names] or sorted(path for path in data.iterdir() if path.is_dir())
    found = [JudgedSet(folder.name, folder, split) for folder in folders]
    return [each for each in found if names or each.questions_file.is_file()]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A set as files in folders, one folder a part, with the document id of every file."""

    folder: Path
    parts: tuple[str, ...]  # ("",) when the set has no parts
    ids: dict[tuple[str, str], str]  # (part, path below it) → document id

    def root(self, part: str) -> Path:
        return self.folder / "files" / (part or "all")


def unpack(judged: JudgedSet, folder: Path) -> Unpacked:
    """Write the set's documents as files; nothing is done when that happened before with the same corpus."""
    corpus = judged.corpus()
    with corpus.open("rb") as stream:
        digest = f"{LAYOUT} {hashlib.file_digest(stream, 'sha256').hexdigest()}"
    stamp = folder / "unpacked"
    if not stamp.is_file() or stamp.read_text() != digest:
        shutil.rmtree(folder / "files", ignore_errors=True)
        made = _unpack_archive(judged, folder) if corpus.suffixes[-2] == ".tar" else _unpack_records(judged, folder)
        (folder / "ids.json").write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
        stamp.write_text(digest)
    rows = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
    ids = {(part, path): identifier for part, path, identifier in rows}
    return Unpacked(folder, tuple(dict.fromkeys(part for part, _ in ids)), ids)


def _unpack_archive(judged: JudgedSet, folder: Path) -> list[tuple[str, str, str]]:
    """Real files as they are. Folders that are languages become parts."""
    with tarfile.open(judged.corpus()) as archive:
        members = [member for member in archive if member.isfile()]
        tops = {member.name.split("/")[0] for member in members}
        has_parts = all(_LANGUAGE_FOLDER.fullmatch(top) for top in tops) and len(tops) > 1
        rows = []
        for member in members:
            part, _, path = member.name.partition("/") if has_parts else ("", "", member.name)
            target = _target(folder, part, path)
            stream = archive.extractfile(member)
            assert stream is not None
            target.write_bytes(stream.read())
            identifier = member.name.removesuffix(".md") if judged.name in _WITHOUT_SUFFIX else member.name
            rows.append((part, path, identifier))
    return rows


def _unpack_records(judged: JudgedSet, folder: Path) -> list[tuple[str, str, str]]:
    """One file a record: Markdown under its title, or source code. Languages become parts."""
    rows = []
    records = list(_records(judged))
    suffixes = _suffixes(judged.name, records)
    has_parts = len({record.get("lang") for record in records}) > 1
    for record in records:
        identifier, title, text = str(record["id"]), record.get("title") or "", record["text"]
        part = record["lang"] if has_parts else ""
        suffix = suffixes.get(record.get("doc", identifier), ".md")
        body = f"# {title}\n\n{text}\n" if title and suffix == ".md" else f"{text}\n"
        path = re.sub(r"[^\w.+-]", "/", identifier) + suffix
        _target(folder, part, path).write_text(body, encoding="utf-8")
        rows.append((part, path, identifier))
    return rows


def _records(judged: JudgedSet) -> Iterator[dict[str, Any]]:
    with gzip.open(judged.corpus(), "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def _target(folder: Path, part: str, path: str) -> Path:
    target = folder / "files" / (part or "all") / path
    if not target.resolve().is_relative_to((folder / "files").resolve()):
        raise ValueError(f"{path!r} leads out of the folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _suffixes(set_name: str, records: list[dict[str, Any]]) -> dict[str, str]:
    """Of records of code, by the file that they are part of."""
    if set_name == "cosqa":
        return {str(record["id"]): ".py" for record in records}
    if set_name != "code_chunks":
        return {}
    texts: dict[str, list[str]] = {}
    for record in records:
        texts.setdefault(record.get("doc", str(record["id"])), []).append(record["text"])
    return {name: code_suffix("\n".join(parts)) for name, parts in texts.items()}


_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (  # the surest first
    (".go", re.compile(r"^package \w+$|^func [(\w]", re.MULTILINE)),
    (".rs", re.compile(r"\bfn \w+[<(]|^\s*impl[ <]|\bpub (?:fn|struct|enum|mod)\b|\blet mut\b|^#!?\[", re.MULTILINE)),
    (".java", re.compile(r"^import (?:static )?(?:java|org|com)\.|\bpublic (?:class|void|static|final)\b|@Override")),
    (".cpp", re.compile(r"^\s*#\s*(?:include|define|ifn?def)|^\s*(?:namespace|template)\b|\b\w+::\w+", re.MULTILINE)),
    (".py", re.compile(r"^\s*(?:def \w+\(|class \w+.*:$|from [\w.]+ import |import \w+$)", re.MULTILINE)),
    (".js", re.compile(r"\bfunction\b|\bconst \w+ = |=> \{|\brequire\(")),
)


def code_suffix(text: str) -> str:
    """The suffix that the file would have had: records of code come without one."""
    for suffix, pattern in _SIGNS:
        if len(pattern.findall(text)) >= 2:
            return suffix
    return ".txt"
