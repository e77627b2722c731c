"""The command line: what it prints, and the exit codes that scripts trust."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import Run


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_projects_are_added_listed_and_removed(run: Run, tmp_path: Path) -> None:
    notes = folder(tmp_path / "Notes")
    assert run("projects", "add", notes).code == 0
    assert json.loads(run("projects", "list", "--json").out) == [
        {"name": "notes", "folder": str(notes), "state": "new", "reason": None, "private": False, "documents": 0}
    ]
    assert run("projects", "remove", "notes").code == 0
    assert json.loads(run("projects", "list", "--json").out) == []
    said = run("projects", "remove", "notes")
    assert said.code == 1
    assert said.err.startswith("armillary: No project")


def test_every_spelling_of_a_folder_is_one_project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = folder(tmp_path / "lab")
    (tmp_path / "link").symlink_to(lab)
    monkeypatch.chdir(tmp_path)
    for spelling in ("lab", "./lab", "lab/", "link", str(lab), f"{lab}/../lab", "lab//"):
        said = run("projects", "add", spelling, "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)["name"] == "lab"
    assert len(json.loads(run("projects", "list", "--json").out)) == 1


def test_a_folder_inside_another_project_is_refused(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "lab" / "inner")
    run("projects", "add", tmp_path / "lab")
    inner = run("projects", "add", tmp_path / "lab" / "inner")
    outer = run("projects", "add", tmp_path)
    assert (inner.code, outer.code) == (1, 1)
    assert "lies inside project" in inner.err
    assert "contains project" in outer.err
    assert len(inner.err.splitlines()) == len(outer.err.splitlines()) == 1


def test_folders_of_one_name_get_a_number(run: Run, tmp_path: Path) -> None:
    for parent in ("one", "two", "three"):
        run("projects", "add", folder(tmp_path / parent / "docs"))
    names = [project["name"] for project in json.loads(run("projects", "list", "--json").out)]
    assert names == ["docs", "docs-2", "docs-3"]


def test_a_name_that_is_taken_or_not_allowed_is_refused(run: Run, tmp_path: Path) -> None:
    run("projects", "add", folder(tmp_path / "a"), "--name", "x")
    assert run("projects", "add", folder(tmp_path / "b"), "--name", "x").code == 1
    assert run("projects", "add", tmp_path / "b", "--name", "B!").code == 2


def test_a_project_whose_folder_moved_is_told_where_it_is_now(run: Run, tmp_path: Path) -> None:
    run("projects", "add", folder(tmp_path / "old"), "--name", "notes", "--private")
    (tmp_path / "old").rename(tmp_path / "new")
    said = run("projects", "add", tmp_path / "new", "--name", "notes", "--json")
    assert said.code == 0, said.err
    [project] = json.loads(run("projects", "list", "--json").out)
    assert (project["folder"], project["private"]) == (str(tmp_path / "new"), True)


@pytest.mark.parametrize("name", ["nope", "file.md"])
def test_what_is_no_folder_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "file.md").write_text("x", encoding="utf-8")
    said = run("projects", "add", tmp_path / name)
    assert said.code == 2
    assert len(said.err.splitlines()) == 1


def test_a_data_folder_inside_the_project_is_refused(run: Run, tmp_path: Path) -> None:
    said = run("projects", "add", folder(tmp_path / "lab"), "--data", tmp_path / "lab" / "index")
    assert said.code == 2
    assert "lies inside the project folder" in said.err
    assert run("projects", "add", tmp_path / "lab", "--data", tmp_path / "lab" / ".index").code == 0


def test_a_data_folder_that_is_a_file_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    said = run("projects", "list", "--data", tmp_path / "file")
    assert said.code == 2
    assert "--data" in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_folder_that_cannot_be_written_is_refused(run: Run, tmp_path: Path) -> None:
    locked = folder(tmp_path / "locked")
    locked.chmod(0o500)
    said = run("up", tmp_path, "--data", locked / "data")
    assert said.code == 2
    assert "cannot be written" in said.err


def test_tokens_are_shown_once_and_never_again(run: Run) -> None:
    made = json.loads(run("tokens", "create", "laptop", "--json").out)
    assert made["token"].startswith("arm_")
    assert made["rights"] == ["enrich", "read"]
    listed = run("tokens", "list", "--json").out
    assert made["token"] not in listed
    assert [token["name"] for token in json.loads(listed)] == ["laptop"]
    assert run("tokens", "create", "laptop").code == 1
    assert run("tokens", "revoke", "laptop").code == 0
    assert run("tokens", "revoke", "laptop").code == 1
    assert json.loads(run("tokens", "list", "--json").out) == []


def test_a_token_goes_to_standard_output_alone(run: Run) -> None:
    said = run("tokens", "create", "ci", "--right", "read")
    assert said.out.strip().startswith("arm_")
    assert len(said.out.splitlines()) == 1
    assert "shown this once" in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("projects", "list"),
        ("tokens", "list"),
        ("models", "list"),
        ("config", "show"),
        ("version",),
        ("doctor",),
    ],
)
def test_json_is_json_and_words_are_words(run: Run, arguments: tuple[str, ...]) -> None:
    said = run(*arguments, "--json")
    assert said.code == 0, said.err
    json.loads(said.out)
    said = run(*arguments)
    assert said.code == 0, said.err
    assert said.out.strip()


def test_wrong_usage_is_exit_code_2(run: Run) -> None:
    assert run("up", "--port", "many").code == 2
    assert run("frobnicate").code == 2
    assert run("search").code == 2
    assert run("up", "--port", "99999").code == 2


def test_up_without_any_folder_says_what_to_type(run: Run) -> None:
    said = run("up", "--port", "0")
    assert said.code == 2
    assert "armillary up DIR" in said.err


def test_up_on_a_missing_folder_is_one_line(run: Run, tmp_path: Path) -> None:
    said = run("up", tmp_path / "nope", "--port", "0")
    assert said.code == 2
    assert said.err.splitlines() == [f"armillary: There is no folder {tmp_path}/nope."]


def test_up_on_overlapping_folders_is_one_line(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "lab" / "inner")
    said = run("up", tmp_path / "lab", tmp_path / "lab" / "inner", "--port", "0")
    assert said.code == 2
    assert "lies inside project" in said.err
    assert len(said.err.splitlines()) == 1


def test_an_open_address_without_a_token_is_refused(run: Run, tmp_path: Path) -> None:
    said = run("up", folder(tmp_path / "lab"), "--bind", "0.0.0.0", "--port", "0")
    assert said.code == 2
    assert "armillary tokens create" in said.err
    assert len(said.err.splitlines()) == 1


def test_stop_without_a_server_is_exit_code_1(run: Run) -> None:
    assert run("stop").code == 1


def test_a_document_that_is_not_there_is_exit_code_1(run: Run) -> None:
    assert run("read", "notes::a.md").code == 1
    assert run("why", "/nowhere/a.md").code == 1


def test_what_the_owner_wrote_wins_over_the_command_line(run: Run, home: Path, tmp_path: Path) -> None:
    config = home / ".config/armillary/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("projects: {lab: {private: true}}", encoding="utf-8")
    run("projects", "add", folder(tmp_path / "lab"))
    assert json.loads(run("projects", "list", "--json").out)[0]["private"] is True


def test_advice_names_the_data_folder_when_it_is_not_the_usual_one(run: Run, home: Path, tmp_path: Path) -> None:
    assert "`armillary up` starts it" in run("status").out
    odd = folder(tmp_path / "two words")
    assert f"armillary projects add DIR --data '{odd}'" in run("status", "--data", odd).out
    assert "projects add DIR --data ~/mine" in run("status", "--data", home / "mine").out
    refused = run("up", folder(tmp_path / "notes"), "--bind", "0.0.0.0", "--port", "0", "--data", odd)
    assert f"`armillary tokens create NAME --data '{odd}'`" in refused.err


def test_a_data_folder_has_one_spelling(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "a")
    assert json.loads(run("config", "show", "--json", "--data", "a/../data").out)["data"] == str(tmp_path / "data")


def test_why_tells_of_folders_and_of_a_project_itself(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "one" / "sub")
    two = folder(tmp_path / "two")
    folder(tmp_path / "three")
    for name in ("one", "two"):
        run("projects", "add", tmp_path / name)
    monkeypatch.chdir(tmp_path / "one")
    for path in ("../two", str(two), "../one/../two/."):
        said = run("why", path)
        assert (said.code, said.out.splitlines()[0]) == (0, "two")
        assert "the folder of a project, new, 0 documents" in said.out
    assert run("why", ".").out.splitlines()[0] == "one"
    sub = run("why", "sub").out
    assert sub.splitlines()[0] == "one::sub"
    assert "a folder, 0 documents below it" in sub
    outside = run("why", "../three/x.md")
    assert outside.code == 1
    assert "lies in no project" in outside.err


def test_no_color_means_no_escape_at_all(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("projects", "add", folder(tmp_path / "notes"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in run("projects", "list").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("projects", "list").out
