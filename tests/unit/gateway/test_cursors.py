from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.domain.errors import InvalidRequestError
from armillary_gateway.cursors import Cursors

CURSORS = Cursors(b"k" * 32)


@given(st.lists(st.integers(min_value=0, max_value=2**40), max_size=6))
def test_the_numbers_come_back(numbers: list[int]) -> None:
    sealed = CURSORS.seal("t", caller="c", subject="s", generation="g", numbers=numbers)
    place = CURSORS.open("t", sealed, caller="c", subject="s")
    assert place.numbers == tuple(numbers)
    place.check("g")
    with pytest.raises(InvalidRequestError, match="old"):
        place.check("g2")


def test_no_cursor_is_the_beginning() -> None:
    place = CURSORS.open("t", None, caller="c", subject="s")
    assert place.offset == 0
    place.check("whatever")


@pytest.mark.parametrize(
    "changed",
    [{"tool": "u"}, {"caller": "d"}, {"subject": "s2"}, {"key": b"j" * 32}],
    ids=["tool", "caller", "subject", "key"],
)
def test_a_cursor_fits_only_where_it_was_made(changed: dict[str, object]) -> None:
    sealed = CURSORS.seal("t", caller="c", subject="s", generation="g", numbers=[7])
    made = {"tool": "t", "caller": "c", "subject": "s", "key": b"k" * 32} | changed
    with pytest.raises(InvalidRequestError):
        Cursors(made["key"]).open(made["tool"], sealed, caller=made["caller"], subject=made["subject"])  # type: ignore[arg-type]


@given(st.text(max_size=300))
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        CURSORS.open("t", text, caller="c", subject="s")


@given(st.integers(min_value=0, max_value=30), st.integers(min_value=0, max_value=7))
def test_one_altered_bit_is_refused(position: int, bit: int) -> None:
    import base64

    sealed = CURSORS.seal("t", caller="c", subject="s", generation="g", numbers=[300, 4, 5, 70000])
    raw = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    raw[position % len(raw)] ^= 1 << bit
    altered = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    with pytest.raises(InvalidRequestError, match="altered"):
        CURSORS.open("t", altered, caller="c", subject="s")
