"""Worlds with one guarantee removed each (fencing, idempotent appends, subscribe before read …), to test the checks."""

from collections.abc import Callable, Sequence
from typing import Any

from chat.log import stream
from tests.machine.model import ModelLog
from tests.machine.model_rows import ModelRows
from tests.machine.real import UnfencedRows as UnfencedRealRows
from tests.machine.real import real_world
from tests.machine.world import World


class UnfencedLog(ModelLog):
    def refuses(self, attempt: int, held: int) -> bool:
        return False


class UnfencedRows(ModelRows):
    def refuses(self, attempt: int) -> bool:
        return False


class ForgetfulRows(ModelRows):
    """A continuation that begins without the text so far."""

    def go_on(self) -> None:
        before = self.row.continuations
        super().go_on()
        if self.row.continuations != before:
            self.row.text = ""


class EarlyReleaseWorld(World):
    """A world whose checkpoints include a tool call that is not stored yet."""

    def write(self, choice: int) -> None:
        super().write(choice)
        if worker := self._worker(choice):
            worker.producer.release()


class NonIdempotentLog(ModelLog):
    """A log that renumbers repeated lines, as a plain XADD does."""

    def new(self, first: int, lines: Sequence[bytes], last: int) -> tuple[int, Sequence[bytes]]:
        return last + 1, lines


def model_world(log: ModelLog, rows: type[ModelRows] = ModelRows, **mistake: bool) -> World:
    return World(log, rows(log), **mistake)


MODELS: dict[str, Callable[[], World]] = {
    "no fence in the log": lambda: model_world(UnfencedLog()),
    "no fence in the database": lambda: model_world(ModelLog(), UnfencedRows),
    "appends are not idempotent": lambda: model_world(NonIdempotentLog()),
    "the log is read before the subscription is confirmed": lambda: model_world(
        ModelLog(), waits_for_confirmation=False
    ),
    "a continuation forgets the text": lambda: model_world(ModelLog(), ForgetfulRows),
    "a checkpoint counts a call that no row knows": lambda: EarlyReleaseWorld(
        log := ModelLog(), ModelRows(log)
    ),
}


REAL: dict[str, Callable[[Any], World]] = {
    "no fence in the log": lambda owner: real_world(owner, script=script_without("fence")),
    "no fence in the database": lambda owner: real_world(owner, UnfencedRealRows),
    "appends are not idempotent": lambda owner: real_world(owner, script=script_without("idempotence")),
    "the log is read before the subscription is confirmed": lambda owner: real_world(
        owner, waits_for_confirmation=False
    ),
}


def script_without(promise: str) -> str:
    """The append script with one line changed."""
    before, after = {
        "fence": ("if held[1] and attempt + 0 < held[1] + 0 then return {1, held[1] + 0} end", ""),
        "idempotence": (
            "local skip = last + 1 - first",
            "first = last + 1\nlocal skip = 0\nARGV[2] = string.format('%d', first)",
        ),
    }[promise]
    assert stream.APPEND.count(before) == 1, f"the script has changed: {before}"
    return stream.APPEND.replace(before, after)
