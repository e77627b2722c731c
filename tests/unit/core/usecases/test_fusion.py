from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.domain.chunk import CARD_ORDINAL, chunk_key
from armillary_core.domain.query import Hit, MatchClass, NameHit
from armillary_core.usecases.fusion import Found, Fusion, Tier, chapter_of, fuse, normalised, one_each, spread
from armillary_core.usecases.search_policy import SearchPolicy

POLICY = SearchPolicy()


def hit(pk: int, score: float, ordinal: int = 0) -> Hit:
    return Hit(chunk_key(pk, ordinal), score)


def fused(
    found: Found,
    *,
    weight: float = 0.5,
    hashes: Mapping[int, str | None] | None = None,
    ranks: Mapping[int, int] | None = None,
    policy: SearchPolicy = POLICY,
    titled: Collection[int] = (),
) -> Fusion:
    known = dict.fromkeys(found.documents) | dict(hashes or {})

    def rank(pks: Sequence[int]) -> Mapping[int, int]:
        return {pk: (ranks or {}).get(pk, pk) for pk in pks}

    return fuse(
        found, known, meaning_weight=lambda _pk: weight, rank_of_ties=rank, policy=policy, settled=1000, titled=titled
    )


def order(fusion: Fusion) -> list[int]:
    return list(dict.fromkeys(place.pk for place in fusion.places))


def test_scores_of_a_leg_lie_between_nought_and_one() -> None:
    assert normalised([hit(1, 9.0), hit(2, 5.0), hit(3, 1.0)]) == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("scores", [[3.0], [2.0, 2.0]], ids=["single", "equal"])
def test_a_single_candidate_counts_as_one(scores: list[float]) -> None:
    assert normalised([hit(pk, score) for pk, score in enumerate(scores)]) == [1.0] * len(scores)


def test_both_legs_count_by_their_weight() -> None:
    found = Found(words=[hit(1, 10), hit(2, 6), hit(3, 0)], meaning=[hit(2, 0.9), hit(3, 0.85), hit(1, 0.4)])
    assert order(fused(found, weight=0.5)) == [2, 1, 3]
    assert order(fused(found, weight=0.0)) == [1, 2, 3]
    assert order(fused(found, weight=1.0)) == [2, 3, 1]
    place = fused(found, weight=0.5).places[0]
    assert place.score == pytest.approx(0.5 * 0.6 + 0.5 * 1.0)


def test_what_one_leg_did_not_find_counts_nothing_there() -> None:
    found = Found(words=[hit(1, 10), hit(2, 1)], meaning=[hit(3, 0.9), hit(4, 0.1)])
    scores = {place.pk: place.score for place in fused(found, weight=0.6).places}
    assert scores == pytest.approx({3: 0.6, 1: 0.4, 2: 0.0, 4: 0.0})


def test_without_a_meaning_leg_words_count_whole() -> None:
    assert fused(Found(words=[hit(1, 3.0)]), weight=0.8).places[0].score == 1.0


def test_words_and_meaning_of_one_document_may_stand_in_different_chunks() -> None:
    found = Found(
        words=[hit(1, 10, ordinal=0), hit(2, 8), hit(9, 0)], meaning=[hit(1, 0.9, ordinal=4), hit(2, 0.7), hit(9, 0)]
    )
    assert order(fused(found)) == [1, 2, 9]


def test_the_shown_chunk_is_the_best_one_and_the_card_is_none() -> None:
    found = Found(words=[hit(1, 9, CARD_ORDINAL), hit(1, 7, 3), hit(1, 2, 0), hit(2, 1)])
    first = fused(found).places[0]
    assert (first.pk, first.ordinal, first.is_first) == (1, 3, True)
    assert fused(found).bm25(first) == 9  # the document's best
    assert fused(Found(words=[hit(1, 9, CARD_ORDINAL)])).places[0].ordinal == -1  # its lead


def test_names_add_a_bounded_bonus() -> None:
    words = [hit(1, 10), hit(2, 8), hit(3, 0)]
    named = NameHit(2, None, MatchClass.PREFIX, 1.0)
    assert order(fused(Found(words=words))) == [1, 2, 3]
    places = {place.pk: place.score for place in fused(Found(words=words, names=[named])).places}
    assert places[2] == pytest.approx(0.8 + POLICY.names_bonus * POLICY.name_shares[MatchClass.PREFIX])
    everything = [NameHit(3, None, match, 1.0) for match in MatchClass if match is not MatchClass.EXACT]
    assert fused(Found(words=words, names=everything)).places[-1].score <= POLICY.names_bonus


def test_better_classes_of_names_add_more() -> None:
    bonuses = [
        fused(Found(words=[hit(1, 1.0)], names=[NameHit(1, None, match, 0.5)])).places[0].score for match in MatchClass
    ]
    assert bonuses == sorted(bonuses, reverse=True)


def test_an_exact_title_stays_first_whatever_the_scores() -> None:
    found = Found(
        words=[hit(1, 10), hit(2, 9)],
        meaning=[hit(1, 0.9), hit(2, 0.8)],
        names=[NameHit(7, None, MatchClass.EXACT, 1.0)],
    )
    assert order(fused(found)) == [7, 1, 2]
    assert fused(found).places[0].tier == Tier.EXACT_TITLE


def test_an_exact_chapter_comes_after_titles_and_before_the_rest() -> None:
    names = [NameHit(5, 3, MatchClass.EXACT, 0.875), NameHit(7, None, MatchClass.EXACT, 1.0)]
    fusion = fused(Found(words=[hit(1, 10), hit(5, 2)], names=names))
    assert order(fusion) == [7, 5, 1]
    assert chapter_of(fusion, fusion.places[1]) == 3


def test_a_heading_that_many_documents_have_is_not_exact() -> None:
    names = [NameHit(pk, 1, MatchClass.EXACT, 0.875) for pk in range(10, 12 + POLICY.exact_chapters)]
    fusion = fused(Found(words=[hit(1, 10)], names=names))
    assert order(fusion)[0] == 1
    assert {place.tier for place in fusion.places} == {Tier.SCORED}


def test_an_exact_keyword_is_only_a_bonus() -> None:
    names = [NameHit(2, None, MatchClass.EXACT, 0.75)]
    assert order(fused(Found(words=[hit(1, 10), hit(2, 1)], names=names))) == [1, 2]


def test_of_copies_only_the_best_placed_stays() -> None:
    found = Found(words=[hit(1, 5), hit(2, 9), hit(2, 8, 1), hit(3, 7)])
    fusion = fused(found, hashes={1: "same", 2: "same", 3: "other"})
    assert order(fusion) == [2, 3]
    assert [place.ordinal for place in fusion.places if place.pk == 2] == [0, 1]


def test_documents_without_a_hash_are_no_copies() -> None:
    assert order(fused(Found(words=[hit(1, 5), hit(2, 5)]), hashes={1: None, 2: None})) == [1, 2]


def test_what_the_catalogue_does_not_know_is_left_out() -> None:
    found = Found(words=[hit(1, 5), hit(2, 9)], names=[NameHit(3, None, MatchClass.EXACT, 1.0)])
    fusion = fuse(
        found, {1: None}, meaning_weight=lambda _pk: 0.5, rank_of_ties=lambda _pks: {}, policy=POLICY, settled=9
    )
    assert order(fusion) == [1]


def test_equal_scores_are_ordered_by_where_the_document_is() -> None:
    found = Found(words=[hit(1, 5), hit(2, 5), hit(3, 5)])
    assert order(fused(found, ranks={1: 2, 2: 0, 3: 1})) == [2, 3, 1]


def test_scores_that_differ_by_rounding_are_equal() -> None:
    found = Found(words=[hit(1, 5), hit(2, 5 + 1e-12), hit(3, 0)])
    assert order(fused(found, ranks={1: 0, 2: 1})) == [1, 2, 3]


def test_further_passages_of_one_document_give_way_to_others() -> None:
    words = [hit(1, 10 - ordinal / 10, ordinal) for ordinal in range(6)] + [hit(2, 9), hit(3, 8.5), hit(4, 0)]
    policy = replace(POLICY, free_per_document=2, crowding=0.1, max_per_document=4)
    places = spread(fused(Found(words=words)).places, policy=policy)
    assert [place.pk for place in places] == [1, 1, 2, 1, 3, 1, 4, 1, 1]
    assert [place.pk for place in one_each(places)] == [1, 2, 3, 4]


def test_without_rivals_one_document_fills_the_page() -> None:
    words = [hit(1, 10 - ordinal / 10, ordinal) for ordinal in range(9)]
    places = spread(fused(Found(words=words)).places, policy=POLICY)
    assert [place.ordinal for place in places] == list(range(9))


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 3), st.floats(0.0, 9.0)), max_size=20),
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 3), st.floats(0.0, 1.0)), max_size=20),
    st.integers(0, 1000),
)
def test_the_order_does_not_depend_on_the_order_of_hits(
    words: list[tuple[int, int, float]], meaning: list[tuple[int, int, float]], seed: int
) -> None:
    def hits(rows: list[tuple[int, int, float]]) -> list[Hit]:
        return [Hit(key, score) for key, score in {chunk_key(pk, ordinal): s for pk, ordinal, s in rows}.items()]

    one = Found(hits(words), hits(meaning), [NameHit(1, None, MatchClass.WORDS, 0.5)])
    shuffled = random.Random(seed)
    other = Found(shuffled.sample(one.words, len(one.words)), shuffled.sample(one.meaning, len(one.meaning)), one.names)
    assert fused(one).places == fused(other).places
    assert all(place.score <= 1 + POLICY.names_bonus for place in fused(one).places)


def test_a_title_in_the_question_lifts_its_document_by_a_bounded_bonus() -> None:
    found = Found(words=[hit(1, 9.0), hit(2, 8.5), hit(3, 1.0)])

    assert order(fused(found)) == [1, 2, 3]
    assert order(fused(found, titled={2, 3})) == [2, 1, 3]


def test_a_title_in_the_question_and_a_found_name_count_once() -> None:
    found = Found(words=[hit(1, 9.0), hit(2, 1.0)], names=[NameHit(1, None, MatchClass.WORDS, 0.9)])

    assert fused(found, titled={1}).places[0].score == pytest.approx(1.0 + POLICY.title_bonus)
