"""The rules of a scan: what is new, what may be deleted, what moved, what diverged."""

from __future__ import annotations

import pytest

from armillary_core.domain.document import FileStamp
from armillary_core.domain.ingest import FoundFile, Listing, Skipped, SkipRule
from armillary_core.domain.project import ListingWay, Project, ProjectName
from armillary_core.ports.catalogue.ingest import Known
from armillary_core.usecases.lifecycle import (
    NOTHING,
    compare,
    find_divergence,
    find_moves,
    hold_reason,
    sort_absent,
)


def known(pk: int, path: bytes, *, mtime: int = 1, present: bool = True, pending: bool = False, at: float = 9) -> Known:
    return Known(
        pk=pk,
        path=path,
        stamp=FileStamp(1, mtime, pk),
        content_hash=f"h{pk}",
        present=present,
        enriched=False,
        pending=pending,
        verified_at=at,
    )


def found(pk: int, path: bytes, *, mtime: int = 1) -> FoundFile:
    return FoundFile(path, FileStamp(1, mtime, pk))


def test_new_changed_missing_and_unchanged_are_told_apart() -> None:
    rows = [known(1, b"same"), known(2, b"edited"), known(3, b"gone"), known(4, b"gone-before", present=False)]
    result = compare(rows, [found(1, b"same"), found(2, b"edited", mtime=2), found(9, b"new")])
    assert [file.path for file in result.new] == [b"new"]
    assert [row.pk for row, _ in result.changed] == [2]
    assert [row.pk for row in result.gone] == [3]
    assert result.unchanged == 1


@pytest.mark.parametrize(
    "row",
    [known(1, b"a", pending=True), known(1, b"a", present=False), known(1, b"a", at=1)],
    ids=["pending", "found again", "not verified for long"],
)
def test_an_equal_stamp_is_read_again_when_something_asks_for_it(row: Known) -> None:
    assert len(compare([row], [found(1, b"a")], verify_before=5).changed) == 1


def listing(files: int, *, errors: tuple[str, ...] = (), device: int = 1) -> Listing:
    return Listing(tuple(found(n, b"f%d" % n) for n in range(files)), (), ListingWay.WALK, device=device, errors=errors)


PROJECT = Project(1, ProjectName("p"), "/p", device=1)


@pytest.mark.parametrize(
    ("look", "before", "lost", "held"),
    [
        (listing(100), 100, 0, False),
        (listing(99, errors=("docs: permission denied",)), 100, 1, False),
        (listing(0), 1, 1, True),
        (listing(79), 100, 21, False),  # more than 20, not more than 30 %
        (listing(10), 30, 20, False),  # more than 30 %, not more than 20
        (listing(69), 100, 31, True),
        (listing(4, device=2), 9, 5, True),
        (listing(5, device=2), 9, 4, False),
    ],
    ids=[
        "nothing lost",
        "unreadable elsewhere",
        "empty",
        "a fifth",
        "few",
        "a third",
        "other device, most",
        "other device, some",
    ],
)
def test_a_suspicious_loss_is_held(look: Listing, before: int, lost: int, held: bool) -> None:
    assert (hold_reason(PROJECT, look, present_before=before, lost=lost) is not None) is held


def test_documents_in_a_folder_that_cannot_be_read_are_held() -> None:
    look = listing(99, errors=("docs: permission denied",))
    absent = sort_absent(
        [known(1, b"docs/a/b"), known(2, b"docs2/c"), known(3, b"locked")],
        [Skipped(b"docs/", SkipRule.UNREADABLE), Skipped(b"locked", SkipRule.UNREADABLE)],
        set(),
    )
    assert ([row.pk for row in absent.gone], absent.lost, absent.unreadable) == ([1, 2], 1, 1)
    reason = hold_reason(PROJECT, look, present_before=100, lost=absent.lost, unreadable=absent.unreadable)
    assert reason == "1 folder(s) could not be read (docs: permission denied)"


def test_what_was_left_out_or_is_elsewhere_is_no_loss() -> None:
    rows = [known(1, b"logs/x/a"), known(2, b"b"), known(3, b"c"), known(4, b"d")]
    rules = [
        Skipped(b"logs/", SkipRule.GITIGNORE),
        Skipped(b"b", SkipRule.NOT_INCLUDED),
        Skipped(b"d", SkipRule.VANISHED),
    ]
    absent = sort_absent(rows, rules, {"h3"})
    assert (len(absent.gone), absent.lost, absent.unreadable) == (4, 1, 0)


def test_a_move_pairs_one_vanished_with_one_new_document() -> None:
    assert find_moves({1: "a", 2: "b"}, {8: "b", 9: "c"}).certain == ((2, 8),)


def test_several_candidates_on_a_side_are_ambiguous_and_nothing_moves() -> None:
    moves = find_moves({1: "a", 2: "a"}, {9: "a"})
    assert moves.certain == ()
    assert moves.ambiguous == (((1, 2), (9,)),)


def test_changed_content_is_no_move() -> None:
    assert find_moves({1: "a"}, {9: "b"}).certain == ()


def test_one_edited_copy_names_the_others() -> None:
    result = find_divergence({1: ("h", "x")}, {"h": [2, 3]}, {}, {})
    assert result.flags == {1: (2, 3)}
    assert result.new == (1,)


def test_copies_that_are_all_edited_alike_do_not_diverge() -> None:
    assert find_divergence({1: ("h", "x"), 2: ("h", "x")}, {}, {}, {}).flags == {}


def test_five_copies_four_edited_each_name_the_one_left() -> None:
    result = find_divergence({pk: ("h", f"x{pk}") for pk in (1, 2, 3, 4)}, {"h": [5]}, {}, {})
    assert result.flags == dict.fromkeys((1, 2, 3, 4), (5,))


def test_a_document_that_was_no_copy_does_not_diverge() -> None:
    assert find_divergence({1: ("h", "x")}, {"h": [1]}, {}, {}).flags == {}


def test_an_empty_file_was_no_copy() -> None:
    assert find_divergence({1: (NOTHING, "x")}, {NOTHING: [2]}, {}, {}).flags == {}


def test_an_edit_taken_back_clears_the_flag() -> None:
    result = find_divergence({1: ("x", "h")}, {}, {1: (2,)}, {1: "h", 2: "h"})
    assert result.flags == {1: ()}
    assert result.new == ()


def test_partial_reconvergence_narrows_the_flag() -> None:
    assert find_divergence({}, {}, {1: (2, 3)}, {1: "x", 2: "x", 3: "h"}).flags == {1: (3,)}


def test_names_that_vanished_are_dropped_and_an_old_flag_is_not_new() -> None:
    result = find_divergence({}, {}, {1: (2, 3)}, {1: "x", 3: "h"})
    assert result.flags == {1: (3,)}
    assert result.new == ()


def test_an_unchanged_flag_is_not_written_again() -> None:
    assert find_divergence({}, {}, {1: (3,)}, {1: "x", 3: "h"}).flags == {}
