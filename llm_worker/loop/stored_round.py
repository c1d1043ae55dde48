"""The stored parts of a round of tool calls, and the interface of their store. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from chat.transcript.entries import Image, SentBack
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.state import Utterance


@dataclass(frozen=True)
class NewRound:
    """A round to be stored before its calls run.

    number: its index among the rounds of its loop, from 0.  before: the text shown since the previous round.
    inside: the row of the agent call it belongs to; may be empty.
    """

    number: int
    calls: Sequence[PlannedCall]
    before: Utterance
    inside: str
    sent_back: SentBack | None = None


@dataclass(frozen=True)
class AgentReport:
    """The report that an agent tool wrote, and its reasoning before."""

    report: str = ""
    reasoning: str = ""


class RoundStore(Protocol):
    """Stores rounds. Each method returns when its write is committed, and never if the run was lost."""

    async def begin(self, new_round: NewRound) -> list[str]:
        """Store the calls as running or waiting, and return their rows, in tab order."""
        ...

    async def start(self, approved: Mapping[str, PlannedCall]) -> None:
        """Store that these calls, by row, run now with these arguments: if lost, they may have taken effect."""
        ...

    async def finish(self, row: str, result: CallResult, report: AgentReport) -> None: ...

    async def keep_images(self, row: str, name: str, contents: Sequence[bytes]) -> Sequence[Image]:
        """Store the images of a call, have them read, and return images that can be shown. name: of the tool."""
        ...

    async def wait(self, row: str, call: PlannedCall) -> None:
        """Store that a call waits for the answer to its question, or once more for approval, with these arguments."""
        ...
