"""What scans conclude, over real folders: losses, moves, copies that diverge, and the three modes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.errors import DocumentNotFoundError, InvalidRequestError
from armillary_core.domain.ingest import Listing
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName, ProjectState
from armillary_core.domain.query import Mode
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.usecases.ingest import ScanProject, ScanResult
from fakes import FakeClock, FakeEmbedder
from product import Product
from trees import write

pytestmark = pytest.mark.anyio

GUEST = Caller(name="guest")
# Sixty words that share nothing.
WORDS = [
    f"{first}{second}{first}ub"
    for first in "bdfgkl"
    for second in ("al", "em", "in", "or", "us", "yd", "ax", "ep", "ic", "ov")
]
CLEAN, REBUILD = ReindexMode.CLEAN, ReindexMode.REBUILD


class Folder:
    """One project of one test; a minute passes before each scan."""

    def __init__(self, product: Product, clock: FakeClock, name: str, root: Path) -> None:
        self.product, self.clock, self.name, self.root = product, clock, name, root

    def write(self, files: Mapping[str | bytes, str | bytes]) -> None:
        write(self.root, files)

    def remove(self, *paths: str) -> None:
        for path in paths:
            (self.root / path).unlink()

    def move(self, source: str, target: str) -> None:
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / source).rename(self.root / target)

    async def scan(self, mode: ReindexMode = ReindexMode.UPDATE) -> ScanResult:
        self.clock.advance(60)
        return await self.product.scan(self.name, mode)

    async def scan_and_die(self) -> None:
        """Everything is stored and nothing concluded."""

        async def die(done: int, total: int) -> bool:
            if done == total:
                raise KeyboardInterrupt
            return True

        self.clock.advance(60)
        with pytest.raises(KeyboardInterrupt):
            await self.product.scan(self.name, progress=die)

    def id(self, path: str) -> str:
        return f"{self.name}::{path}"

    def enrich(self, path: str, summary: str = "In other words") -> None:
        self.product.enrich(self.id(path), summary=summary)

    def summary(self, path: str) -> str | None:
        enrichment = self.product.card(self.id(path)).card.enrichment
        return enrichment.summary if enrichment else None

    def paths(self) -> list[str]:
        """Of documents whose file was there at the last good scan."""
        return [os.fsdecode(path) for path, document in self.product.documents(self.name).items() if document.present]

    def diverged(self, path: str, caller: Caller = LOCAL_OWNER) -> list[str]:
        return sorted(str(other) for other in self.product.card(self.id(path), caller).card.diverged_from)

    @property
    def state(self) -> ProjectState:
        return self.product.project(self.name).state

    async def found(self, text: str) -> list[str]:
        return await self.product.found(text, project=self.name)


@pytest.fixture
def folder(product: Product, clock: FakeClock, tmp_path: Path, request: pytest.FixtureRequest) -> Folder:
    return make_folder(product, clock, tmp_path, request.node.name, "")


def make_folder(
    product: Product, clock: FakeClock, tmp_path: Path, test: str, suffix: str, *, private: bool = False
) -> Folder:
    name = f"{abs(hash(test)) % 10**10}{suffix}"
    root = tmp_path / f"root{suffix}"
    root.mkdir()
    product.add(name, root, private=private)
    return Folder(product, clock, name, root)


def text(word: str) -> str:
    return f"# About {word}\n\nThe {word} stands alone.\n"


# -- losses ------------------------------------------------------------------------------------------------------------


async def test_a_first_scan_finds_all_new_and_the_next_counts_apart(folder: Folder) -> None:
    folder.write({f"{word}.md": text(word) for word in ("ash", "birch", "cedar")})
    first = await folder.scan()
    assert (first.scanned, first.new, first.changed, first.unchanged, first.removed) == (3, 3, 0, 0, 0)
    folder.write({"ash.md": text("ashes"), "date.md": text("date")})
    folder.remove("birch.md")
    second = await folder.scan()
    assert (second.scanned, second.new, second.changed, second.unchanged, second.removed) == (3, 1, 1, 1, 1)
    assert await folder.found("birch") == []
    assert await folder.found("ashes") == [folder.id("ash.md")]
    third = await folder.scan()
    assert (third.unchanged, third.new, third.changed, third.removed) == (3, 0, 0, 0)


async def test_a_missing_root_holds_everything_and_answers_are_marked(folder: Folder) -> None:
    folder.write({"keep.md": text("heron")})
    await folder.scan()
    folder.enrich("keep.md")
    folder.root.rename(folder.root.with_name("unmounted"))
    gone = await folder.scan()
    assert folder.state is ProjectState.UNREACHABLE
    assert "does not exist" in (gone.reason or "")
    answer = await folder.product.search("heron", project=folder.name)
    assert [passage.document for passage in answer.passages] == [folder.id("keep.md")]
    assert any(folder.name in note and "may be old" in note for note in answer.notes)
    assert (await folder.scan(CLEAN)).removed == 0, "cleaning concludes nothing about a folder that is not there"
    folder.root.with_name("unmounted").rename(folder.root)
    await folder.scan()
    assert folder.state is ProjectState.OK
    assert folder.summary("keep.md") == "In other words"


async def test_an_empty_root_is_held_until_it_is_confirmed(folder: Folder) -> None:
    folder.write({"a.md": text("plover"), "b.md": text("stilt")})
    await folder.scan()
    folder.remove("a.md", "b.md")
    held = await folder.scan()
    assert (folder.state, held.removed) == (ProjectState.HELD, 0)
    assert await folder.found("plover") == [folder.id("a.md")]
    assert folder.name in (await folder.product.search("plover", project=folder.name)).completeness.held
    assert (await folder.scan(CLEAN)).removed == 2
    assert folder.state is ProjectState.OK
    assert await folder.found("plover") == []


async def test_many_losses_at_once_are_held_and_new_files_are_read_all_the_same(folder: Folder) -> None:
    folder.write({f"n{number:02}.md": text(f"{WORDS[number]}") for number in range(60)})
    await folder.scan()
    folder.remove(*[f"n{number:02}.md" for number in range(25)])
    folder.write({"new.md": text("newcomer")})
    held = await folder.scan()
    assert folder.state is ProjectState.HELD
    assert "25 of 60" in (held.reason or "")
    assert await folder.found(WORDS[3]) == [folder.id("n03.md")]
    assert await folder.found("newcomer") == [folder.id("new.md")]
    folder.write({f"n{number:02}.md": text(f"{WORDS[number]}") for number in range(10)})
    assert (await folder.scan()).removed == 15, "fewer losses than that are ordinary"
    assert folder.state is ProjectState.OK


async def test_another_device_with_most_files_gone_is_held(folder: Folder) -> None:
    core = folder.product.core

    class Remounted:
        def list(self, project: object) -> object:
            seen = core.source.list(project)  # type: ignore[arg-type]
            assert isinstance(seen, Listing)
            return replace(seen, device=(seen.device or 0) + 1)

    async def go_on(_done: int, _total: int) -> bool:
        return True

    folder.write({"a.md": text("egret"), "b.md": text("bittern"), "c.md": text("crane")})
    await folder.scan()
    folder.remove("a.md", "b.md")
    scan = ScanProject(core.catalogue, Remounted(), core.extraction, core.clock)  # type: ignore[arg-type]
    held = await scan(ProjectName(folder.name), ReindexMode.UPDATE, progress=go_on)
    assert held.state == ProjectState.HELD
    assert "another device" in (held.reason or "")
    assert (await folder.scan()).removed == 2


async def test_a_scan_that_died_loses_no_move_of_a_whole_folder(folder: Folder) -> None:
    folder.write({f"old/n{number:02}.md": text(f"leaf{number}") for number in range(40)})
    await folder.scan()
    folder.enrich("old/n07.md")
    folder.move("old", "new")
    await folder.scan_and_die()
    result = await folder.scan()
    assert result.state == ProjectState.OK, result.reason
    assert folder.summary("new/n07.md") == "In other words"
    assert len(folder.paths()) == 40


async def test_losing_copies_of_what_is_still_there_is_no_loss(folder: Folder) -> None:
    folder.write({f"c{number:02}.md": text("onestory") for number in range(50)})
    await folder.scan()
    folder.remove(*[f"c{number:02}.md" for number in range(30)])
    assert (await folder.scan()).removed == 30
    assert folder.state is ProjectState.OK


async def test_what_the_owner_leaves_out_is_no_loss(folder: Folder) -> None:
    folder.write({f"docs/n{number:02}.md": text(f"page{number}") for number in range(10)})
    folder.write({f"logs/n{number:02}.md": text(f"log{number}") for number in range(60)})
    await folder.scan()
    project = folder.product.project(folder.name)
    folder.product.add(folder.name, folder.root, settings=replace(project.settings, include=("docs/**",)))
    dropped = await folder.scan()
    assert (dropped.state, dropped.removed) == (ProjectState.OK, 60)
    assert len(folder.paths()) == 10
    folder.product.add(folder.name, folder.root, settings=project.settings)
    assert (await folder.scan()).new == 60
    folder.write({".gitignore": "logs/\n"})
    assert (await folder.scan()).removed == 60, "an ignore file is the owner's word too"


# -- moves -------------------------------------------------------------------------------------------------------------


async def test_renames_keep_enrichment_staleness_and_vectors(folder: Folder, embedder: FakeEmbedder) -> None:
    folder.write({f"{word}.md": text(word) for word in ("alder", "beech", "chestnut", "dogwood")})
    await folder.scan()
    for word in ("alder", "beech", "chestnut"):
        folder.enrich(f"{word}.md", f"Of {word}")
    folder.write({"beech.md": text("beeches")})
    await folder.scan()
    await folder.product.embed()
    calls = len(embedder.calls)
    folder.move("alder.md", "maple.md")
    folder.move("beech.md", "deep/er/beech.md")
    folder.move("chestnut.md", "deep/chestnut.md")
    folder.move("dogwood.md", "deep/dogwood.md")
    result = await folder.scan()
    assert {(move["from"], move["to"]) for move in result.moved} == {
        (folder.id("alder.md"), folder.id("maple.md")),
        (folder.id("beech.md"), folder.id("deep/er/beech.md")),
        (folder.id("chestnut.md"), folder.id("deep/chestnut.md")),
    }
    assert folder.summary("maple.md") == "Of alder"
    assert folder.product.listed(folder.name, state="desync") == []
    assert folder.product.card(folder.id("deep/er/beech.md")).card.is_stale
    assert not folder.product.card(folder.id("maple.md")).card.is_stale
    assert [event.change["summary"] for event in folder.product.card(folder.id("maple.md")).history] == ["Of alder"]
    await folder.product.embed()
    assert len(embedder.calls) - calls <= 1, "only the cards whose file names changed"
    semantic = await folder.product.search("About chestnut", project=folder.name, mode=Mode.SEMANTIC)
    assert semantic.passages[0].document == folder.id("deep/chestnut.md")
    assert await folder.found("Of alder") == [folder.id("maple.md")]


async def test_renaming_a_folder_of_most_documents_is_a_move_and_no_loss(folder: Folder) -> None:
    folder.write({f"old/n{number:02}.md": text(WORDS[number]) for number in range(45)})
    await folder.scan()
    folder.enrich("old/n01.md", "One")
    folder.enrich("old/n44.md", "Last")
    folder.move("old", "new/place")
    result = await folder.scan()
    assert (result.state, result.new, result.removed, len(result.moved)) == (ProjectState.OK, 45, 45, 2)
    assert folder.summary("new/place/n44.md") == "Last"
    assert await folder.found(WORDS[9]) == [folder.id("new/place/n09.md")]


async def test_two_vanished_and_one_new_are_only_reported(folder: Folder) -> None:
    folder.write({"a.md": text("twin"), "b.md": text("twin")})
    await folder.scan()
    folder.enrich("a.md", "A")
    folder.enrich("b.md", "B")
    folder.move("a.md", "c.md")
    folder.remove("b.md")
    result = await folder.scan()
    assert result.moved == []
    assert result.ambiguous_moves == [{"from": [folder.id("a.md"), folder.id("b.md")], "to": [folder.id("c.md")]}]
    assert folder.summary("c.md") is None
    assert folder.product.listed(folder.name, state="desync") == [folder.id("a.md"), folder.id("b.md")]


async def test_changed_content_and_cards_nobody_wrote_do_not_move(folder: Folder) -> None:
    folder.write({"a.md": text("fir"), "b.md": text("gum"), "rest.md": text("rest")})
    await folder.scan()
    folder.enrich("a.md")
    folder.move("a.md", "c.md")
    folder.write({"c.md": text("firs")})
    folder.move("b.md", "d.md")
    result = await folder.scan()
    assert (result.moved, result.ambiguous_moves) == ([], [])
    assert folder.summary("c.md") is None
    assert folder.product.listed(folder.name, state="desync") == [folder.id("a.md")]


async def test_a_move_that_takes_two_scans_is_followed(folder: Folder) -> None:
    folder.write({"a.md": text("hazel"), "rest.md": text("hedge")})
    await folder.scan()
    folder.enrich("a.md")
    folder.move("a.md", "../waiting.md")
    await folder.scan()
    assert folder.product.listed(folder.name, state="desync") == [folder.id("a.md")]
    folder.move("../waiting.md", "b.md")
    assert (await folder.scan()).moved
    assert folder.summary("b.md") == "In other words"


async def test_a_scan_that_died_loses_no_move(folder: Folder) -> None:
    folder.write({"a.md": text("ivy"), "rest.md": text("ivories")})
    await folder.scan()
    folder.enrich("a.md")
    folder.move("a.md", "b.md")
    await folder.scan_and_die()
    assert (await folder.scan()).moved == [{"from": folder.id("a.md"), "to": folder.id("b.md")}]
    assert folder.summary("b.md") == "In other words"


async def test_a_card_written_while_its_move_is_found_stays(folder: Folder) -> None:
    folder.write({"a.md": text("juniper"), "b.md": text("kapok"), "rest.md": text("rest of it")})
    await folder.scan()
    folder.enrich("a.md", "Of old")
    folder.enrich("b.md", "Of another")
    folder.move("a.md", "x.md")
    folder.move("b.md", "y.md")

    async def write_card(done: int, total: int) -> bool:
        if done == total:
            folder.enrich("x.md", "Of now")
        return True

    folder.clock.advance(60)
    result = await folder.product.scan(folder.name, progress=write_card)
    assert (result.state, folder.state) == (ProjectState.OK, ProjectState.OK)
    assert folder.summary("x.md") == "Of now"
    assert folder.summary("y.md") == "Of another", "the other move goes on"
    assert folder.product.listed(folder.name, state="desync") == [folder.id("a.md")], "and nothing written is lost"


# -- desync ------------------------------------------------------------------------------------------------------------


async def test_a_vanished_enriched_document_leaves_search_and_keeps_its_card(folder: Folder) -> None:
    folder.write({"gone.md": text("larch"), "stays.md": text("lemon")})
    await folder.scan()
    folder.enrich("gone.md", "Sings of the larch")
    await folder.scan()
    folder.remove("gone.md")
    await folder.scan()
    assert await folder.found("larch") == []
    view = folder.product.card(folder.id("gone.md"))
    assert [str(state) for state in view.card.states] == ["desync", "enriched"]
    assert view.card.enrichment is not None
    assert view.card.enrichment.summary == "Sings of the larch"
    assert folder.product.listed(folder.name, state="desync") == [folder.id("gone.md")]
    folder.write({"gone.md": text("larch")})
    await folder.scan()
    assert await folder.found("larch") == [folder.id("gone.md")]
    assert folder.summary("gone.md") == "Sings of the larch"
    assert folder.product.listed(folder.name, state="desync") == []


async def test_a_vanished_document_nobody_wrote_about_is_gone(folder: Folder) -> None:
    folder.write({"gone.md": text("myrtle"), "stays.md": text("maple")})
    await folder.scan()
    folder.remove("gone.md")
    await folder.scan()
    with pytest.raises(DocumentNotFoundError):
        folder.product.card(folder.id("gone.md"))


# -- copies ------------------------------------------------------------------------------------------------------------


async def copies(folder: Folder, word: str, count: int) -> None:
    folder.write({f"c{number}.md": text(word) for number in range(count)})
    await folder.scan()


async def test_one_edited_copy_is_flagged_until_it_is_edited_back(folder: Folder) -> None:
    await copies(folder, "nutmeg", 3)
    assert {str(copy.id) for copy in folder.product.card(folder.id("c0.md")).copies} == {
        folder.id("c1.md"),
        folder.id("c2.md"),
    }
    folder.write({"c0.md": text("nutmegs, changed")})
    result = await folder.scan()
    assert result.new_divergences == [folder.id("c0.md")]
    assert folder.diverged("c0.md") == [folder.id("c1.md"), folder.id("c2.md")]
    assert folder.product.listed(folder.name, state="diverged") == [folder.id("c0.md")]
    counts = folder.product.core.catalogue.projects.counts([ProjectName(folder.name)])
    assert counts[ProjectName(folder.name)].diverged == 1
    assert (await folder.scan()).new_divergences == [], "an old flag is not reported again"
    assert folder.diverged("c0.md") == [folder.id("c1.md"), folder.id("c2.md")]
    folder.write({"c1.md": text("nutmegs, changed")})
    await folder.scan()
    assert folder.diverged("c0.md") == [folder.id("c2.md")]
    assert folder.diverged("c1.md") == [folder.id("c2.md")]
    folder.write({"c0.md": text("nutmeg"), "c1.md": text("nutmeg")})
    await folder.scan()
    assert folder.product.listed(folder.name, state="diverged") == []


async def test_copies_edited_alike_at_once_do_not_diverge(folder: Folder) -> None:
    await copies(folder, "oak", 2)
    folder.write({f"c{number}.md": text("oaks") for number in range(2)})
    assert (await folder.scan()).new_divergences == []


async def test_of_five_copies_four_edited_each_name_the_one_left(folder: Folder) -> None:
    await copies(folder, "palm", 5)
    folder.write({f"c{number}.md": text(f"palm{number}") for number in range(4)})
    assert len((await folder.scan()).new_divergences) == 4
    for number in range(4):
        assert folder.diverged(f"c{number}.md") == [folder.id("c4.md")]
    folder.remove("c4.md")
    await folder.scan()
    assert folder.product.listed(folder.name, state="diverged") == []


async def test_accepting_clears_the_flag_for_good(folder: Folder) -> None:
    await copies(folder, "quince", 2)
    folder.write({"c0.md": text("quinces")})
    await folder.scan()
    document, former = folder.product.core.cards_use.accept_divergence(folder.id("c0.md"), LOCAL_OWNER)
    assert (str(document.id), [str(other.id) for other in former]) == (folder.id("c0.md"), [folder.id("c1.md")])
    await folder.scan()
    assert folder.diverged("c0.md") == []


async def test_what_was_no_copy_does_not_diverge(folder: Folder) -> None:
    folder.write({"a.md": text("rowan"), "b.md": text("sumac")})
    await folder.scan()
    folder.write({"a.md": text("rowans")})
    assert (await folder.scan()).new_divergences == []


async def test_empty_files_are_no_copies_of_one_another(folder: Folder) -> None:
    folder.write({"a.md": "", "b.md": "", "c.md": text("tulip")})
    await folder.scan()
    folder.write({"a.md": text("tamarind")})
    assert (await folder.scan()).new_divergences == []


async def test_cleaning_looks_for_neither_moves_nor_divergence(folder: Folder) -> None:
    folder.write({"a.md": text("umbrella"), "c0.md": text("viburnum"), "c1.md": text("viburnum")})
    await folder.scan()
    folder.enrich("a.md")
    folder.move("a.md", "b.md")
    folder.write({"c0.md": text("viburnums")})
    result = await folder.scan(CLEAN)
    assert (result.moved, result.new_divergences, result.dropped_desync) == ([], [], 1)
    assert folder.summary("b.md") is None


async def test_a_divergence_is_seen_though_the_project_is_held(folder: Folder) -> None:
    folder.write({f"n{number:02}.md": text(f"willow{number}") for number in range(40)})
    folder.write({"c0.md": text("yew"), "c1.md": text("yew")})
    await folder.scan()
    folder.remove(*[f"n{number:02}.md" for number in range(30)])
    folder.write({"c0.md": text("yews")})
    assert (await folder.scan()).state == ProjectState.HELD
    assert folder.diverged("c0.md") == [folder.id("c1.md")]


async def test_a_scan_that_died_loses_no_divergence(folder: Folder) -> None:
    await copies(folder, "zelkova", 2)
    folder.write({"c0.md": text("zelkovas")})
    await folder.scan_and_die()
    await folder.scan()
    assert folder.diverged("c0.md") == [folder.id("c1.md")]


async def test_copies_in_other_projects_count_and_private_ones_are_not_told(
    folder: Folder, product: Product, clock: FakeClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shared = make_folder(product, clock, tmp_path, request.node.name, "s")
    vault = make_folder(product, clock, tmp_path, request.node.name, "v", private=True)
    for place in (folder, shared, vault):
        place.write({"same.md": text("acacia"), "other.md": text(f"alone in {place.name}")})
        await place.scan()
    seen = product.card(folder.id("same.md"), GUEST)
    assert [str(copy.id) for copy in seen.copies] == [shared.id("same.md")]
    answer = await product.search("acacia", caller=GUEST)
    assert vault.name not in repr(answer)
    assert {*answer.passages[0].also_in, answer.passages[0].document} == {
        folder.id("same.md"),
        shared.id("same.md"),
    }
    folder.write({"same.md": text("acacias")})
    await folder.scan()
    assert folder.diverged("same.md") == [shared.id("same.md")]
    vault.write({"same.md": text("acacias too")})
    await vault.scan()
    assert vault.diverged("same.md") == []
    with pytest.raises(DocumentNotFoundError) as refused:
        product.card(folder.id("some.md"), GUEST)
    assert vault.name not in refused.value.message


async def test_divergence_from_what_became_private_is_none_for_who_does_not_see_it(
    folder: Folder, product: Product, clock: FakeClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    vault = make_folder(product, clock, tmp_path, request.node.name, "v")
    for place in (folder, vault):
        place.write({"same.md": text("baobab"), "other.md": text(f"alone in {place.name}")})
        await place.scan()
    folder.write({"same.md": text("baobabs")})
    await folder.scan()
    assert folder.diverged("same.md", GUEST) == [vault.id("same.md")]
    product.add(vault.name, vault.root, private=True)
    assert folder.diverged("same.md") == [vault.id("same.md")]
    assert product.listed(folder.name, state="diverged") == [folder.id("same.md")]
    assert product.listed(folder.name, GUEST, state="diverged") == []
    counted = {project.name: counts.diverged for project, counts in product.core.browse.cosmos(GUEST).projects}
    assert counted[ProjectName(folder.name)] == 0
    with pytest.raises(InvalidRequestError, match="no divergence to accept"):
        product.core.cards_use.accept_divergence(folder.id("same.md"), GUEST)
    assert folder.diverged("same.md") == [vault.id("same.md")], "nor can it be accepted unseen"


# -- modes -------------------------------------------------------------------------------------------------------------


async def test_cleaning_drops_desync_cards_and_keeps_enrichment(folder: Folder) -> None:
    folder.write({"gone.md": text("cypress"), "stays.md": text("cork")})
    await folder.scan()
    folder.enrich("gone.md")
    folder.enrich("stays.md", "Floats")
    folder.remove("gone.md")
    assert (await folder.scan()).dropped_desync == 0, "an ordinary scan keeps them"
    assert (await folder.scan(CLEAN)).dropped_desync == 1
    with pytest.raises(DocumentNotFoundError):
        folder.product.card(folder.id("gone.md"))
    assert folder.summary("stays.md") == "Floats"


async def test_a_rebuild_writes_a_backup_resets_enrichment_and_says_so(
    folder: Folder, product: Product, clock: FakeClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    foreign = make_folder(product, clock, tmp_path, request.node.name, "f")
    for place in (folder, foreign):
        place.write({"a.md": text("durian"), "b.md": text("dragonfruit")})
        await place.scan()
        product.enrich(place.id("a.md"), summary="Smells", date="2020-02-29")
        place.enrich("b.md", "Glows")
    folder.remove("b.md")
    result = await folder.scan(REBUILD)
    assert (result.reset_enrichment, result.changed) == (2, 1)
    assert folder.summary("a.md") is None
    assert folder.product.card(folder.id("a.md")).card.date is None
    newest = product.card(folder.id("a.md")).history[0]
    assert (newest.by, newest.change) == ("rebuild", {"reset": True})
    assert folder.paths() == ["a.md"]
    assert foreign.summary("a.md") == "Smells"
    assert result.backup is not None
    saved = SqliteCatalogue.open(Path(result.backup))
    try:
        document = saved.documents.find(ProjectName(folder.name), b"a.md")
        assert document is not None
        card = saved.cards.get(document.pk)
        assert card is not None
        assert card.enrichment is not None
        assert card.enrichment.summary == "Smells"
    finally:
        saved.close()
    assert await folder.found("durian") == [folder.id("a.md")]


async def test_two_rebuilds_in_one_second_keep_both_backups(folder: Folder) -> None:
    folder.write({"a.md": text("elder")})
    await folder.scan()
    first = await folder.product.scan(folder.name, REBUILD)
    second = await folder.product.scan(folder.name, REBUILD)
    assert first.backup != second.backup
    assert Path(first.backup or "").exists()
    assert Path(second.backup or "").exists()


async def test_a_date_survives_a_change_of_content(folder: Folder) -> None:
    folder.write({"a.md": text("ficus")})
    await folder.scan()
    folder.product.enrich(folder.id("a.md"), date="2024-12-31")
    folder.write({"a.md": text("figs")})
    await folder.scan()
    card = folder.product.card(folder.id("a.md")).card
    assert (card.date, card.is_stale) == ("2024-12-31", True)


async def test_foreign_cards_survive_every_mode(
    folder: Folder, product: Product, clock: FakeClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    foreign = make_folder(product, clock, tmp_path, request.node.name, "f")
    for place in (folder, foreign):
        place.write({"a.md": text(f"ginkgo of {place.name}"), "b.md": text(f"grape of {place.name}")})
        await place.scan()
    foreign.enrich("a.md", "Old")
    foreign.enrich("b.md", "Older")
    shutil.rmtree(foreign.root)
    for mode in ReindexMode:
        await folder.scan(mode)
        await foreign.scan(ReindexMode.UPDATE)
        assert (foreign.summary("a.md"), foreign.summary("b.md")) == ("Old", "Older")
        assert foreign.state is ProjectState.UNREACHABLE
