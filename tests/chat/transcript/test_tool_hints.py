"""Which hints of a listed tool are believed."""

from typing import Any

import pytest

from chat.transcript.tools import confirmed, held, limited, unconfirmed

pytestmark = pytest.mark.pure

ASKS = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}
READS = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}


def tool(hints: dict[str, bool], name: str = "write") -> dict[str, Any]:
    return {"tool": name, **hints}


def hints(one: dict[str, Any]) -> dict[str, bool]:
    return {name: one[name] for name in ASKS}


def test_the_first_list_is_believed() -> None:
    [first] = held([tool(READS)], None)
    assert (hints(first), unconfirmed([first])) == (READS, set())


@pytest.mark.parametrize("name", sorted(ASKS))
def test_each_hint_that_becomes_weaker_is_kept_as_a_claim(name: str) -> None:
    weaker = ASKS | {name: READS[name]}
    [now] = held([tool(weaker)], [tool(ASKS)])
    assert (hints(now), unconfirmed([now])) == (ASKS, {"write"})
    assert confirmed([now]) == [tool(weaker)]


def test_hints_that_become_stricter_are_believed_at_once_and_stay() -> None:
    [stricter] = held([tool(ASKS)], [tool(READS)])
    assert (hints(stricter), unconfirmed([stricter])) == (ASKS, set())
    [again] = held([tool(READS)], [stricter])
    assert hints(again) == ASKS


def test_a_tool_that_was_not_listed_before_asks_until_it_is_confirmed() -> None:
    before = held([tool(READS)], None)
    [_, new] = held([tool(READS), tool(READS, "delete")], before)
    assert (hints(new), unconfirmed([new])) == (ASKS, {"delete"})
    gone = held([], before)
    [back] = held([tool(READS)], gone)
    assert hints(back) == ASKS


def test_a_claim_stays_one_however_often_it_is_listed() -> None:
    once = held([tool(READS)], [tool(ASKS)])
    [twice] = held([tool(READS)], once)
    assert (hints(twice), unconfirmed([twice])) == (ASKS, {"write"})


def test_the_list_of_a_user_asks_no_less_than_that_of_all() -> None:
    [own, alone] = limited([tool(READS), tool(READS, "mine")], [tool(ASKS)])
    assert (hints(own), hints(alone)) == (ASKS, READS)
