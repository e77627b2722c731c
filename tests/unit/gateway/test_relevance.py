"""Hits that are only the nearest say so in a field, not in words alone."""

from __future__ import annotations

import pytest

from armillary_gateway.tools.search_docs import Hit, rendered

NEAREST: list[Hit] = [{"id": "notes::a.md", "score": 0.0}]


@pytest.mark.parametrize("is_relevant", [True, False], ids=["an answer", "only the nearest"])
def test_the_field_is_there_only_when_nothing_relevant_was_found(is_relevant: bool) -> None:
    answer = rendered("hybrid: words ok", NEAREST, ["notes::a.md"], total=1, is_relevant=is_relevant)
    assert answer.structured_content is not None
    assert answer.structured_content.get("relevant", True) is is_relevant
    assert ("relevant" in answer.structured_content) is not is_relevant
