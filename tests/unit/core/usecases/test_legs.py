from __future__ import annotations

import asyncio

import pytest

from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError
from armillary_core.domain.query import Hit, Hits, LegUnavailable, NameHits
from armillary_core.usecases.legs import LegOff, guarded, off, report, run_legs
from armillary_core.usecases.together import together

pytestmark = pytest.mark.anyio


async def finds() -> Hits | LegUnavailable:
    return Hits((Hit(1, 2.0),), took_ms=1.5)


async def fails(error: Exception) -> Hits | LegUnavailable:
    raise error


async def hangs(let_go: asyncio.Event) -> Hits | LegUnavailable:
    await let_go.wait()
    return Hits(())


@pytest.mark.parametrize("error", [BackendUnavailableError("it is gone"), BackendRejectedError("it is gone")])
async def test_an_error_of_a_leg_is_its_reason(error: Exception) -> None:
    assert await guarded(fails(error), seconds=5) == LegUnavailable("it is gone")


async def test_a_fault_of_a_leg_stays_inside_and_shows_nothing(caplog: pytest.LogCaptureFixture) -> None:
    found = await guarded(fails(KeyError("secret")), seconds=5)
    assert isinstance(found, LegUnavailable)
    assert "secret" not in found.reason
    assert "leg.failed" in caplog.text


async def test_a_slow_leg_is_left_behind() -> None:
    found = await guarded(hangs(asyncio.Event()), seconds=0.01)
    assert isinstance(found, LegUnavailable)
    assert "0.01 s" in found.reason


async def test_a_leg_that_finds_is_handed_on() -> None:
    assert await guarded(finds(), seconds=5) == Hits((Hit(1, 2.0),), took_ms=1.5)


async def test_legs_run_at_once() -> None:
    met = asyncio.Barrier(3)

    async def meets() -> Hits:
        async with asyncio.timeout(5):
            await met.wait()
        return Hits(())

    async def meets_by_name() -> NameHits:
        async with asyncio.timeout(5):
            await met.wait()
        return NameHits(())

    assert await run_legs(meets(), meets(), meets_by_name()) == (Hits(()), Hits(()), NameHits(()))


async def test_a_report_names_state_and_reason() -> None:
    assert report("words", Hits((Hit(1, 2.0),), 1.5)).hits == 1
    assert report("meaning", LegUnavailable("no model")).state == "unavailable"
    told = report("meaning", await off("English only"))
    assert (told.state, told.reason) == ("off", "English only")
    assert isinstance(await off(), LegOff)


async def test_things_that_must_succeed_together_raise_the_first_failure_as_it_is() -> None:
    cancelled = asyncio.Event()

    async def waits() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 1

    async def breaks() -> int:
        raise BackendUnavailableError("it is gone")

    with pytest.raises(BackendUnavailableError, match="it is gone"):
        await together(waits(), breaks())
    assert cancelled.is_set()


async def test_things_done_together_come_back_in_order() -> None:
    async def gives(value: str) -> str:
        return value

    assert await together(gives("a"), gives("b")) == ("a", "b")
