from __future__ import annotations

import pytest

from armillary_core.domain.errors import (
    ChapterNotFoundError,
    DocumentNotFoundError,
    InvalidRequestError,
    ProjectNotFoundError,
)
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.usecases.resolve import Resolve, shown
from shelves import Shelf

GUEST = Caller("guest")


@pytest.fixture
def resolve(shelf: Shelf) -> Resolve:
    shelf.project("alpha")
    shelf.project("beta")
    shelf.project("secret", private=True)
    shelf.add("alpha", {"docs/Setup.md": "# Setup\n## Tools\ntext\n", "README.md": "# Alpha\n"})
    shelf.add("beta", {"README.md": "# Beta\n", "odd/100% C#.md": "# Odd\n", "a::b.md": "# Colons\n"})
    shelf.add("secret", {"README.md": "# Secret\n", "plans.md": "# Plans\n"})
    return Resolve(shelf.catalogue)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("alpha::docs/Setup.md", "alpha::docs/Setup.md"),
        ("  alpha::docs/Setup.md ", "alpha::docs/Setup.md"),
        ("docs/Setup.md", "alpha::docs/Setup.md"),
        ("./docs/Setup.md", "alpha::docs/Setup.md"),
        ("alpha::docs\\Setup.md", "alpha::docs/Setup.md"),
        ("alpha::/docs/Setup.md", "alpha::docs/Setup.md"),
        ("armillary://alpha/docs/Setup.md", "alpha::docs/Setup.md"),
        ("beta::odd/100%25 C%23.md", "beta::odd/100%25 C%23.md"),
        ("beta::odd/100%25%20C%23.md", "beta::odd/100%25 C%23.md"),
        ("beta::odd/100% C#.md", "beta::odd/100%25 C%23.md"),
        ("odd/100% C#.md", "beta::odd/100%25 C%23.md"),
        ("beta::a::b.md", "beta::a::b.md"),
        ("a::b.md", "beta::a::b.md"),
    ],
)
def test_every_spelling_of_an_id_finds_its_document(resolve: Resolve, text: str, found: str) -> None:
    assert resolve.document(text, GUEST).id == found


@pytest.mark.parametrize(
    "text", ["alpha::docs/Setup.md#tools-1", "docs/Setup.md#tools-1", "armillary://alpha/docs/Setup.md#tools-1"]
)
def test_an_anchor_finds_its_chapter(resolve: Resolve, text: str) -> None:
    chapter = resolve(text, GUEST).chapter
    assert chapter is not None and chapter.name == "Tools"


def test_an_unknown_anchor_names_the_tool_that_lists_them(resolve: Resolve) -> None:
    with pytest.raises(ChapterNotFoundError, match=r'list_chapters\(doc="alpha::docs/Setup\.md"\)'):
        resolve("alpha::docs/Setup.md#nothing", GUEST)


def test_a_path_in_several_projects_asks_which(resolve: Resolve) -> None:
    with pytest.raises(InvalidRequestError, match=r"in 2 projects: alpha::README\.md, beta::README\.md"):
        resolve("README.md", GUEST)
    with pytest.raises(InvalidRequestError, match="in 3 projects"):
        resolve("README.md", LOCAL_OWNER)


def test_a_near_miss_suggests_visible_documents_only(resolve: Resolve) -> None:
    with pytest.raises(DocumentNotFoundError, match=r"Did you mean alpha::docs/Setup\.md"):
        resolve("alpha::docs/setp.md", GUEST)
    with pytest.raises(DocumentNotFoundError) as refused:
        resolve("plan.md", GUEST)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["secret::plans.md", "secret::nothing.md", "secret::plans.md#plans"])
def test_a_private_project_is_one_that_does_not_exist(resolve: Resolve, text: str) -> None:
    with pytest.raises(ProjectNotFoundError) as real:
        resolve(text, GUEST)
    with pytest.raises(ProjectNotFoundError) as unreal:
        resolve(text.replace("secret", "nowhere"), GUEST)
    assert str(real.value).replace("secret", "nowhere") == str(unreal.value)
    assert "Projects: alpha, beta." in str(real.value)


def test_a_private_project_is_there_for_who_names_it(resolve: Resolve) -> None:
    named = Caller("named", projects=(ProjectName("secret"),))
    assert resolve.document("plans.md", named).id == "secret::plans.md"
    assert resolve.names(named) == ("secret",)
    with pytest.raises(ProjectNotFoundError):
        resolve.project("alpha", named)


def test_many_projects_are_not_all_listed(shelf: Shelf) -> None:
    for number in range(100):
        shelf.project(f"project-{number}")
    with pytest.raises(ProjectNotFoundError) as refused:
        Resolve(shelf.catalogue).project("projekt-7", GUEST)
    assert "project-7" in str(refused.value) and "and 92 more (get_cosmos lists them)" in str(refused.value)


def test_without_a_project_it_says_so(shelf: Shelf) -> None:
    with pytest.raises(ProjectNotFoundError, match="There is no project yet"):
        Resolve(shelf.catalogue).project("any", GUEST)


def test_nothing_is_no_id(resolve: Resolve) -> None:
    with pytest.raises(InvalidRequestError, match="doc is empty"):
        resolve("  ", GUEST)


def test_shown_input_is_one_short_printable_line() -> None:
    assert shown("a\nb\x1b\u202ec") == "a b  c"
    assert len(shown("x" * 10_000)) == 121
