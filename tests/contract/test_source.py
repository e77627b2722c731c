"""What every source promises."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import Listing, RootUnavailable
from armillary_core.domain.project import Project
from armillary_core.ports.source import Source
from trees import git, make_project, write


def _plain(root: Path) -> Source:
    return FolderSource()


def _git(root: Path) -> Source:
    git(root, "init", "-q")
    return FolderSource()


IMPLEMENTATIONS: dict[str, Callable[[Path], Source]] = {"plain folder": _plain, "git tree": _git}


@pytest.fixture(params=IMPLEMENTATIONS)
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Source, Project, Path]:
    root = write(tmp_path / "root", {"a.md": "one", "sub/b.txt": "two", ".gitignore": "*.log\n", "x.log": ""})
    return IMPLEMENTATIONS[request.param](root), make_project(root), root


def listed(source: Source, project: Project) -> Listing:
    outcome = source.list(project)
    assert isinstance(outcome, Listing)
    return outcome


def test_every_path_is_a_file_or_a_row_with_a_rule(lab: tuple[Source, Project, Path]) -> None:
    source, project, root = lab
    listing = listed(source, project)
    assert [file.path for file in listing.files] == [b"a.md", b"sub/b.txt"]
    assert [(row.path, row.rule) for row in listing.skipped] == [(b".gitignore", "hidden"), (b"x.log", "gitignore")]
    assert listing.device == os.stat(root).st_dev
    assert listing.errors == ()


def test_an_unchanged_source_is_listed_equally(lab: tuple[Source, Project, Path]) -> None:
    source, project, _ = lab
    assert listed(source, project) == listed(source, project)


def test_a_change_shows_in_the_stamp_of_its_file_alone(lab: tuple[Source, Project, Path]) -> None:
    source, project, root = lab
    before = listed(source, project)
    write(root, {"a.md": "longer"})
    after = listed(source, project)
    assert after.files[0].stamp != before.files[0].stamp
    assert after.files[1:] == before.files[1:]


def test_listing_and_explaining_write_nothing(lab: tuple[Source, Project, Path]) -> None:
    source, project, root = lab

    def state() -> dict[str, tuple[int, int, int]]:
        found = {}
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                status = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
        return found

    before = state()
    source.list(project)
    source.explain(project, b"x.log")
    assert state() == before


def test_a_source_that_is_gone_is_told_apart_from_an_empty_one(lab: tuple[Source, Project, Path]) -> None:
    source, project, root = lab
    root.rename(root.parent / "away")
    assert isinstance(source.list(project), RootUnavailable)


def test_the_last_step_of_an_explanation_decides(lab: tuple[Source, Project, Path]) -> None:
    source, project, _ = lab
    assert [step.verdict for step in source.explain(project, b"a.md")][-1] == "pass"
    steps = source.explain(project, b"x.log")
    assert [step.verdict for step in steps[:-1]] == ["pass"] * (len(steps) - 1)
    assert (steps[-1].rule, steps[-1].verdict, steps[-1].detail) == ("gitignore", "skip", ".gitignore line 1: *.log")


def test_links_out_of_the_root_and_pipes_are_never_opened(lab: tuple[Source, Project, Path]) -> None:
    source, project, root = lab
    write(root.parent, {"outside.md": ""})
    (root / "out.md").symlink_to(root.parent / "outside.md")
    os.mkfifo(root / "pipe.md")
    rules = {row.path: row.rule for row in listed(source, project).skipped}
    assert (rules[b"out.md"], rules[b"pipe.md"]) == ("symlink_outside", "not_a_file")
