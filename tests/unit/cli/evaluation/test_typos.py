from __future__ import annotations

import random

from armillary_cli.evaluation.judged_sets import Question
from armillary_cli.evaluation.typos import misspell, misspelled
from armillary_core.text.spelling import edit_distance


def test_every_question_gets_one_mistake_and_always_the_same() -> None:
    questions = [Question(str(number), f"restart broken container {number}", None) for number in range(40)]
    once = misspelled(questions)

    assert once == misspelled(questions)
    assert len({question.text.rsplit(" ", 1)[0] for question in once}) > 5
    for before, after in zip(questions, once, strict=True):
        pairs = zip(before.text.split(), after.text.split(), strict=True)
        assert [edit_distance(one, other, most=2) for one, other in pairs if one != other] == [1]


def test_paths_flags_identifiers_and_short_words_are_left_alone() -> None:
    text = "run /home/someone/file.txt --recursive get_user_name 12345 now"

    assert misspell(text, random.Random(1)) == text
