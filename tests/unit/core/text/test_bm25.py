from __future__ import annotations

import math
from array import array

import pytest

from armillary_core.domain.chunk import TermCounts
from armillary_core.text.bm25 import best_score, idf, query_vector, term_weights


def counts(**words: int) -> TermCounts:
    return TermCounts(array("I", range(1, len(words) + 1)), array("H", words.values()))


def test_a_word_said_once_in_an_average_chunk_weighs_one() -> None:
    weights = term_weights(counts(tide=1, moon=1), average_length=2.0)
    assert weights.ids == (1, 2)
    assert weights.weights == pytest.approx((1.0, 1.0))


def test_weights_are_the_textbooks() -> None:
    k1, b, length, average = 1.2, 0.75, 5, 4.0
    expected = [n * (k1 + 1) / (n + k1 * (1 - b + b * length / average)) for n in (3, 2)]
    assert term_weights(counts(tide=3, moon=2), average).weights == pytest.approx(expected)


def test_a_longer_chunk_says_less_with_the_same_word() -> None:
    short = term_weights(counts(tide=1), average_length=10.0).weights[0]
    long = term_weights(counts(tide=1, rest=40), average_length=10.0).weights[0]
    assert short > long


def test_a_chunk_without_words_has_an_empty_vector() -> None:
    assert term_weights(TermCounts(), 10.0).ids == ()


def test_without_an_average_the_length_does_not_matter() -> None:
    assert term_weights(counts(tide=1), 0.0).weights == pytest.approx((1.0,))


def test_rarity_falls_with_frequency_and_stays_above_zero() -> None:
    values = [idf(1000, frequency) for frequency in (0, 1, 10, 500, 1000)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert idf(1000, 10) == pytest.approx(math.log(1 + 990.5 / 10.5))


def test_a_frequency_above_the_number_of_chunks_is_as_common_as_can_be() -> None:
    assert idf(10, 12) == idf(10, 10)


def test_a_query_vector_is_in_the_order_of_ids_and_leaves_out_nothing_words() -> None:
    vector = query_vector({7: 1.5, 3: 2.0, 5: 0.0})
    assert vector.ids == (3, 7)
    assert vector.weights == (2.0, 1.5)


def test_no_chunk_scores_above_the_best_score() -> None:
    rarity = {1: 2.0, 2: 0.5}
    weights = term_weights(counts(tide=60000, moon=60000), average_length=1e9)
    score = sum(rarity[token] * weight for token, weight in zip(weights.ids, weights.weights, strict=True))
    assert score <= best_score(rarity.values())
    assert score == pytest.approx(best_score(rarity.values()), rel=1e-3)
