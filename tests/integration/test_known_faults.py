"""Faults that products of this kind are known for, each with the input that provokes its whole kind."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armillary_core.domain.document import encode_path
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName, ProjectState
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.usecases.read import ReadRequest
from fakes import FakeClock, FakeEmbedder
from product import Product, open_product
from trees import git, make_repository, write

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    return FakeEmbedder(dimensions=256)


@pytest.fixture(scope="module")
async def product(embedder: FakeEmbedder, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    data = tmp_path_factory.mktemp("data")
    async with open_product(data, clock=FakeClock(), embedder=embedder) as opened:
        yield opened


def long_text(heading_every: int | None) -> tuple[str, dict[str, int]]:
    """130,000 words in paragraphs, and the line of each needle."""
    words = [f"filler{number % 997}" for number in range(130_000)]
    for place in (10, 5900, 65530, 65540, 100_000, 129_990):
        words[place] = f"needle{place}"
    lines = ["# One heading", ""]
    where: dict[str, int] = {}
    for start in range(0, len(words), 90):
        if heading_every and start and start % heading_every < 90:
            lines += [f"## Part {start}", ""]
        row = words[start : start + 90]
        where |= {word: len(lines) + 1 for word in row if word.startswith("needle")}
        lines += [" ".join(row), ""]
    return "\n".join(lines), where


@pytest.mark.parametrize("heading_every", [None, 400], ids=["one heading", "many headings"])
async def test_b04_the_tail_of_a_long_document_is_found(
    product: Product, tmp_path: Path, heading_every: int | None
) -> None:
    content, where = long_text(heading_every)
    name = f"long{heading_every or ''}"
    product.add(name, write(tmp_path / name, {"long.md": content}))
    await product.scan(name)
    await product.embed()
    assert len(where) == 6
    for mode in (Mode.KEYWORD, Mode.SEMANTIC):
        for needle, line in where.items():
            text = needle if mode is Mode.KEYWORD else f"filler1 {needle} filler2"
            best = (await product.search(text, project=name, mode=mode)).passages[0]
            assert best.lines is not None
            if mode is Mode.KEYWORD:
                assert needle in best.text
                assert best.lines[0] - 1 <= line <= best.lines[1] + 1, needle
            assert best.document == f"{name}::long.md"
    answer = product.core.read(ReadRequest(f"{name}::long.md", lines=str(where["needle129990"])), LOCAL_OWNER)
    assert "needle129990" in answer.source[answer.start : answer.end]


NAMES = ["README.md", "readme.md", "a b.md", "a_b.md", "a-b.md", "a%20b.md", "a+b.md", "a.md", "a.md.md"]


async def test_b05_names_that_differ_a_little_are_documents_of_their_own(product: Product, tmp_path: Path) -> None:
    needles = [f"needle{word}" for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")]
    files: dict[str | bytes, str | bytes] = {
        f"docs/{name}": f"# Page\n\n{needle}\n" for name, needle in zip(NAMES, needles, strict=True)
    }
    root = write(tmp_path / "names", files)
    product.add("names", root)
    assert (await product.scan("names")).new == 9
    for name, needle in zip(NAMES, needles, strict=True):
        identity = f"names::docs/{encode_path(name.encode())}"
        assert (await product.found(needle, project="names"))[:1] == [identity]
        assert product.card(identity).card.document.path == f"docs/{name}".encode()
    for path in ("docs", "docs/", "docs\\", "./docs", "docs/a b.md", "docs\\a b.md"):
        query = SearchQuery("needlethree", mode=Mode.KEYWORD, project=ProjectName("names"), path=path)
        answer = await product.core.search(query, LOCAL_OWNER)
        assert [passage.document for passage in answer.passages][:1] == ["names::docs/a b.md"], path
    (tmp_path / "link").symlink_to(root)
    for spelling in (f"{root}/", f"{root}/.", f"{root}/docs/..", str(tmp_path / "link")):
        added = product.core.projects.add(spelling, LOCAL_OWNER)
        assert (added.project.name, added.is_new) == ("names", False), spelling
    for overlapping in (root / "docs", tmp_path):
        with pytest.raises(ConflictError, match="names"):
            product.core.projects.add(str(overlapping), LOCAL_OWNER)


async def test_b12_worktrees_and_copies_do_not_multiply_the_index(
    product: Product, embedder: FakeEmbedder, tmp_path: Path
) -> None:
    files: dict[str | bytes, str | bytes] = {
        f"d{number:02}.md": f"# Chapter {number}\n\nThe walrus counts to {number}.\n" for number in range(60)
    }
    repository = make_repository(tmp_path / "repo", files)
    for number in range(5):
        git(repository, "worktree", "add", "-q", f".worktrees/w{number}", "-b", f"w{number}")
        git(repository, "worktree", "add", "-q", f"tool/w{number}", "-b", f"t{number}")
    write(repository, {".git/info/exclude": "tool/\n", "tool/w0/d00.md": "# Chapter 0\n\nThe lynx, changed.\n"})
    git(tmp_path, "clone", "-q", str(repository), "clone")
    await product.embed()
    before = sum(embedder.calls)
    product.add("repo", repository)
    product.add("clone", tmp_path / "clone")
    assert (await product.scan("repo")).scanned == 60
    assert (await product.scan("clone")).scanned == 60
    await product.embed()
    assert sum(embedder.calls) - before == 60, "equal text is embedded once"
    for text in ("walrus counts", "Chapter 7"):
        answer = await product.search(text, mode=Mode.HYBRID)
        contents = [passage.text for passage in answer.passages]
        assert len(set(contents)) == len(contents) == 10
        assert all(len(passage.also_in) == 1 for passage in answer.passages)
    worktree = tmp_path / "repo" / "tool" / "w0"
    shutil.copytree(worktree, tmp_path / "asked-for")
    product.add("worktree", tmp_path / "asked-for")
    await product.scan("worktree")
    assert await product.found("lynx") == ["worktree::d00.md"]


async def test_b17_nothing_deleted_is_seen_again_and_the_living_are_not_crowded_out(
    product: Product, tmp_path: Path
) -> None:
    notes: dict[str | bytes, str | bytes] = {
        f"{'trash/' if number < 15 else ''}n{number:02}.md": f"# Ferret {number}\n\nThe ferret note ghost{number}.\n"
        for number in range(60)
    }
    root = write(tmp_path / "ferrets", notes)
    other = write(tmp_path / "burrow", {"own.md": "# Burrow\n\nEmpty.\n"})
    for name, folder in (("ferrets", root), ("burrow", other)):
        product.add(name, folder)
        await product.scan(name)
    await product.embed()
    shutil.rmtree(root / "trash")
    for number in range(15, 38):
        (root / f"n{number}.md").unlink()
    for number in range(38, 43):
        (root / f"n{number}.md").rename(root / f"renamed{number}.md")
    for number in range(43, 46):
        (root / f"n{number}.md").rename(other / f"n{number}.md")
    assert (await product.scan("ferrets")).state == ProjectState.HELD, "most of it is gone at once"
    await product.scan("ferrets", ReindexMode.CLEAN)
    await product.scan("burrow")
    await product.embed()
    living = {f"ferrets::n{number}.md" for number in range(46, 60)}
    living |= {f"ferrets::renamed{number}.md" for number in range(38, 43)}
    living |= {f"burrow::n{number}.md" for number in range(43, 46)}
    for mode in (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID):
        answer = await product.search("ferret note", mode=mode, limit=10)
        shown = [passage.document for passage in answer.passages]
        assert len(shown) == 10
        assert set(shown) <= living
        assert all(set(passage.also_in) <= living for passage in answer.passages)
    similar = await product.core.find_similar("ferrets::n50.md", LOCAL_OWNER, limit=10)
    assert {passage.document for passage in similar.passages} <= living | {"burrow::own.md"}
    assert set(product.listed("ferrets")) == {name for name in living if name.startswith("ferrets")}
    ghost = await product.search("ghost20", project="ferrets")
    assert not ghost.relevant or not any("ghost20" in passage.text for passage in ghost.passages)
    assert all("ghost20" not in near for near in ghost.unknown.values())
    with pytest.raises(DocumentNotFoundError) as refused:
        product.card("ferrets::n20.md")
    assert "n20.md" not in refused.value.message.replace('"ferrets::n20.md"', "")
    assert await product.core.completeness.repair() == []
