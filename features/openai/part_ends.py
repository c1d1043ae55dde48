"""Where a run is parted into responses: at its waits for approvals. Pure."""

from collections.abc import Sequence
from typing import Final

from chat.transcript.waits import Wait

# Their numbers have two digits in base 16.
MAX_PARTS: Final = 256


def find_ends(waits: Sequence[Wait]) -> list[Wait]:
    """Return the waits at which parts end, oldest first; the last one may not be reached yet.

    Questions, addresses and sign-ins have no item: a round in which a call asks one goes on in the same response.
    """
    ends = [
        wait
        for place, wait in enumerate(waits)
        # A round that was interrupted did not get to wait, though its answer may go on.
        if (wait.is_reached or wait.round == waits[-1].round)
        and _can_be_reached(wait, waits[place + 1 :])
        and all(before.is_for_approvals for before in waits[: place + 1] if before.round == wait.round)
    ]
    return ends[: MAX_PARTS - 1]


def _can_be_reached(wait: Wait, later: Sequence[Wait]) -> bool:
    """Return whether no other call of the round has asked later: it had not ended, so the run did not get to wait."""
    return not any(wait.beside & after.asked.keys() for after in later if after.round == wait.round)


def find_late(waits: Sequence[Wait], number: int) -> frozenset[int]:
    """Return the tabs of the calls of a round that needed an approval from the start. They are shown after the others."""
    asked: dict[int, bool] = {}
    for wait in waits:
        if wait.round == number:
            for tab, call in wait.asked.items():
                asked.setdefault(tab, call.is_approval)
    return frozenset(tab for tab, is_approval in asked.items() if is_approval)


def name_part(run: str, part: int) -> str:
    """Return what the ids of a part are made of. Those of the first are as if there were no others."""
    return f"{run}{part:02x}" if part else run


def name_request(run: str, part: int, tab: int) -> str:
    """Return the id of the item with which a part asks about a call. It depends on nothing else that is shown."""
    return f"mcpr_{name_part(run, part)}{tab:04x}"
