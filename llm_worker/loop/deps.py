"""The collaborators of a loop: their interfaces, and the values that it passes to them."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from chat.transcript.entries import Image, SentBack
from chat.transcript.usage import TokenUsage
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.context_report import ContextReport
from llm_worker.loop.state import Utterance
from llm_worker.request.numbered_documents import Numbering
from llm_worker.tools.open_url.run_pages import RunPages
from llm_worker.tools.tool import Knowledge, Pages, Sources
from llm_worker.upstream.deltas import Delta
from llm_worker.upstream.model_request import Request
from llm_worker.worker_part import WorkerPart


class StreamingModels(Protocol):
    """Streams answers; upstream.llm.LanguageModels asks model servers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


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

    async def store_images(self, row: str, name: str, contents: Sequence[bytes]) -> Sequence[Image]:
        """Store the images of a call, have them read, and return images that can be shown. name: of the tool."""
        ...

    async def wait(self, row: str, call: PlannedCall) -> None:
        """Store that a call waits for the answer to its question, or once more for approval, with these arguments."""
        ...


async def no_rewrites(_: Sequence[str]) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class LoopDeps:
    """The collaborators of a loop and of the loops inside it.

    now: the time of the turn, UTC.  on_request: called with the row of the agent call that sends a request (or ""), the
    request, and the report of how its context was built.  allowance: what the run may still use.  on_usage: called with
    each answered request and its usage.  on_tool_call: called with the tool, status and seconds of each call that ran.
    on_found: called when a tool has found documents; the loop around an agent tool sets it.
    sources, knowledge, pages, parts: the services that tools may search, read and use; the parts are those of features.
    rewrite_queries: rewrites the queries of their searches.
    """

    models: StreamingModels
    store: RoundStore
    numbering: Numbering
    allowance: Allowance
    now: datetime
    tool_limit_s: float
    sources: Sources
    knowledge: Knowledge
    on_request: Callable[[str, Request, ContextReport], None]
    on_usage: Callable[[Request, TokenUsage], None]
    on_tool_call: Callable[[str, str, float], None] = lambda *_: None
    on_found: Callable[[], None] = lambda: None
    pages: Pages = field(default_factory=RunPages)
    parts: Sequence[WorkerPart] = ()
    rewrite_queries: Callable[[Sequence[str]], Awaitable[Sequence[str]]] = no_rewrites
