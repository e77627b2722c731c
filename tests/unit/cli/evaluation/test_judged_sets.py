"""Judged documents become the files that a user would have."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from armillary_cli.evaluation.judged_sets import JudgedSet, code_suffix, find_sets, unpack


def make_set(folder: Path, *, records: list[dict[str, Any]] | None = None, files: dict[str, str] | None = None) -> Path:
    """One set as it is published."""
    (folder / "dev").mkdir(parents=True)
    (folder / "dev" / "queries.jsonl").write_text('{"id": "q1", "text": "tides"}\n{"id": "q2", "text": "wind"}\n')
    (folder / "dev" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td3\t1\n")
    if records is not None:
        with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in records)
    if files is not None:
        with tarfile.open(folder / "corpus.tar.gz", "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
    return folder


def unpacked(folder: Path, name: str, work: Path) -> dict[str, tuple[str, str]]:
    """File content and document id by path."""
    made = unpack(JudgedSet(name, folder, "dev"), work)
    return {
        f"{part}/{path}" if part else path: ((made.root(part) / path).read_text(encoding="utf-8"), identifier)
        for (part, path), identifier in made.ids.items()
    }


def test_a_record_with_a_title_is_a_markdown_file(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "notes", records=[{"id": "d1", "title": "Tides", "text": "Water."}])
    work = tmp_path / "work"
    work.mkdir()
    assert unpacked(folder, "notes", work) == {"d1.md": ("# Tides\n\nWater.\n", "d1")}


def test_languages_become_parts(tmp_path: Path) -> None:
    rows = [{"id": f"{lang}-1", "lang": lang, "title": "", "text": lang} for lang in ("en", "ru")]
    folder = make_set(tmp_path / "xquad", records=rows)
    work = tmp_path / "work"
    work.mkdir()
    assert unpacked(folder, "xquad", work) == {"en/en-1.md": ("en\n", "en-1"), "ru/ru-1.md": ("ru\n", "ru-1")}


@pytest.mark.parametrize(
    ("name", "files", "ids"),
    [
        ("manual", {"a/b.md": "x", "c.md": "y"}, {"a/b.md": "a/b.md", "c.md": "c.md"}),
        ("tldr", {"common/tar.md": "x", "osx/tar.md": "y"}, {"common/tar.md": "common/tar", "osx/tar.md": "osx/tar"}),
        ("manual", {"en/a.md": "x", "ru/a.md": "y"}, {"en/a.md": "en/a.md", "ru/a.md": "ru/a.md"}),
    ],
    ids=["paths", "without suffix", "language folders"],
)
def test_files_stay_files(tmp_path: Path, name: str, files: dict[str, str], ids: dict[str, str]) -> None:
    folder = make_set(tmp_path / name, files=files)
    work = tmp_path / "work"
    work.mkdir()
    made = unpacked(folder, name, work)
    assert {path: identifier for path, (_, identifier) in made.items()} == ids
    assert {path: text for path, (text, _) in made.items()} == files


def test_the_same_corpus_is_unpacked_once_and_another_anew(tmp_path: Path) -> None:
    folder, work = make_set(tmp_path / "notes", files={"a.md": "one"}), tmp_path / "work"
    work.mkdir()
    unpacked(folder, "notes", work)
    (work / "files" / "all" / "a.md").write_text("touched")
    assert unpacked(folder, "notes", work)["a.md"][0] == "touched"
    (tmp_path / "other").mkdir()
    other = make_set(tmp_path / "other" / "notes", files={"b.md": "two"})
    assert unpacked(other, "notes", work) == {"b.md": ("two", "b.md")}
    assert not (work / "files" / "all" / "a.md").exists()


def test_a_file_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "notes", files={"../../evil.md": "x"})
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(ValueError, match="leads out"):
        unpack(JudgedSet("notes", folder, "dev"), work)


def test_only_sets_with_questions_of_the_split_are_found(tmp_path: Path) -> None:
    make_set(tmp_path / "one", files={"a.md": "x"})
    (tmp_path / "empty").mkdir()
    assert [judged.name for judged in find_sets(tmp_path, "dev", [])] == ["one"]
    assert find_sets(tmp_path, "holdout", []) == []


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("pub fn one() {}\nimpl Two for Three {}\n", ".rs"),
        ("import java.util.List;\npublic class A {\n}\n", ".java"),
        ("#include <x>\nnamespace y {\n}\n", ".cpp"),
        ("import os\n\ndef one(self):\n    pass\n", ".py"),
        ("package main\n\nfunc main() {}\n", ".go"),
        ("just words", ".txt"),
    ],
)
def test_code_gets_the_suffix_of_its_language(text: str, suffix: str) -> None:
    assert code_suffix(text) == suffix
