"""ResponsePart: the part of a run that a response is. A run that waits for approvals has one more than it has waits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from chat.loaders.rounds import load_waits
from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.transcript.waits import Asked, Wait
from features.openai.part_ends import find_ends, name_part, name_request

NO_RESPONSE: Final = "There is no such response."
RESPONSE_ID: Final = re.compile(r"resp_([0-9a-f]{32})([0-9a-f]{2})?")
# The end of a run whose model used its output up before the answer began.
_NOTHING_BEFORE_THE_LIMIT: Final = "output_limit_reached"


@dataclass(frozen=True)
class ResponsePart:
    """run: from for_work().  number: from 0.  waits: all of the run, as far as they are known.

    is_whole: the run is not parted, since its protocol has no approvals.
    """

    run: Run
    number: int = 0
    waits: Sequence[Wait] = ()
    is_whole: bool = False

    @classmethod
    def load(cls, run: Run, number: int = 0) -> Self:
        return cls(run, number, load_waits(run))

    @classmethod
    def load_last(cls, run: Run) -> Self:
        """Load the part that a run is in, or ended in."""
        waits = load_waits(run)
        ends = [wait for wait in find_ends(waits) if wait.is_reached]
        is_waiting = bool(ends) and ends[-1].is_open
        return cls(run, len(ends) - is_waiting, waits)

    def load_again(self) -> "ResponsePart":
        """Load the run and its waits as they are now. Raises ApiError if the run is gone."""
        run = load_run(self.run)
        return ResponsePart(run, self.number, () if self.is_whole else load_waits(run), self.is_whole)

    @property
    def id(self) -> str:
        return f"resp_{name_part(self.run.pk.hex, self.number)}"

    @property
    def end(self) -> Wait | None:
        """The wait at which the part has ended; None if it goes on, or has ended with the run."""
        return self._end_of(self.number)

    @property
    def requests(self) -> dict[str, Asked]:
        """The calls about which it has asked when it ended, by the ids of their items."""
        asked = self.end.asked if self.end else {}
        return {name_request(self.run.pk.hex, self.number, tab): call for tab, call in asked.items()}

    @property
    def start(self) -> Wait | None:
        """The wait whose decisions the part begins with."""
        return self._end_of(self.number - 1) if self.number else None

    @property
    def exists(self) -> bool:
        """Whether the run has got to it: what the one before waits for is decided, or will never be."""
        start = self.start
        return not self.number or (start is not None and not start.is_open)

    @property
    def is_live(self) -> bool:
        return self.run.is_live and self.end is None

    @property
    def is_waiting(self) -> bool:
        """Whether the run waits for the approvals that it has ended with."""
        return self.end is not None and self.end.is_open

    @property
    def before(self) -> "ResponsePart":
        return ResponsePart(self.run, self.number - 1, self.waits)

    def _end_of(self, number: int) -> Wait | None:
        ends = () if self.is_whole else find_ends(self.waits)
        wait = ends[number] if number < len(ends) else None
        return wait if wait and wait.is_reached else None


def load_run(run: Run) -> Run:
    """Load the run as it is now. Raises ApiError."""
    loaded = Run.objects.for_work().filter(pk=run.pk).first()
    if loaded is None:
        raise ApiError("not_found", NO_RESPONSE)
    return loaded


def end_status(run: Run) -> str:
    """Return the status of the last response of a run that has ended."""
    if run.status == Status.STOPPED:
        return "cancelled"
    if run.visible_finish.is_cut or run.error_code == _NOTHING_BEFORE_THE_LIMIT:
        return "incomplete"
    return "failed" if run.error_code else "completed"
