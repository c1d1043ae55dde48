"""Background work that fails is logged and goes on."""

import asyncio
from unittest import mock

import pytest

from chat.infrastructure import background
from chat.infrastructure.background import start_task, start_thread
from chat.log.publisher import Publisher

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RESTART_S", 0)


async def test_a_task_that_fails_is_logged_and_starts_again_until_it_returns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcomes = [ValueError("the first"), KeyError("the second"), None]
    await asyncio.wait_for(start_task("upkeep", mock.AsyncMock(side_effect=outcomes)), 30)
    assert [record.getMessage() for record in caplog.records] == [
        "background work failed and starts again: upkeep"
    ] * 2
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == outcomes[:2]


async def test_a_task_that_is_cancelled_ends(caplog: pytest.LogCaptureFixture) -> None:
    task = start_task("upkeep", asyncio.Event().wait)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=30)
    assert task.cancelled()
    assert not caplog.records


def test_a_thread_that_fails_is_logged_and_starts_again(caplog: pytest.LogCaptureFixture) -> None:
    thread = start_thread("upkeep", mock.Mock(side_effect=[ValueError, None, None]))
    thread.join(30)
    assert not thread.is_alive()
    assert len(caplog.records) == 1


async def test_the_publisher_appends_after_an_unexpected_failure_what_it_could_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    producer = mock.Mock(has_more=True)
    publisher = Publisher(mock.Mock())
    drained: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    outcomes = iter([RuntimeError("nobody expected it"), None])

    async def drain(batch: list[object]) -> None:
        if failure := next(outcomes):
            raise failure
        drained.set_result(batch)

    monkeypatch.setattr(publisher, "_drain", drain)
    await publisher.start()
    publisher.schedule(producer, urgent=True)
    assert await asyncio.wait_for(drained, 30) == [producer]
    publisher._task.cancel()  # type: ignore[union-attr]
