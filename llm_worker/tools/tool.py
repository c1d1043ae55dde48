"""What a tool is: what it declares of itself, what it is given, and what it gives back. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from chat.transcript.entries import Document


class ToolFailed(Exception):
    """The model is told so in this one sentence and may try something else."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to.

    response: what the model reads; empty for a tool that only found documents, which are rendered for it.
    documents: what was found, best first; their numbers are given by the engine, not by the tool.
    """

    response: str = ""
    documents: tuple[Document, ...] = ()


class ToolContext(Protocol):
    """What a tool may use while it runs. It ends by being cancelled: on a stop, or at its time limit."""

    now: datetime  # UTC

    async def research(self, instructions: str, question: str, tools: Sequence["Tool"], cycles: int) -> str:
        """Let the run's model work on a question of its own in an inner loop; returns its report.

        The calls it makes are stored under this call and shown inside it; documents it finds get numbers that
        the outer answer may cite.
        """
        ...


class Tool(Protocol):
    """One capability. Adding one is a file in this folder and a line in its registry."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str:
        """For the model, in the request's tool schema."""
        ...

    @property
    def guidance(self) -> str:
        """When and how to use it, for the system prompt; one paragraph."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments object."""
        ...

    @property
    def searches(self) -> bool:
        """Whether it finds documents to cite."""
        ...

    @property
    def merges(self) -> bool:
        """Whether its calls of one step become one (`merge`)."""
        ...

    @property
    def is_idempotent(self) -> bool:
        """Whether a call whose outcome was lost may simply run again."""
        ...

    @property
    def time_limit_s(self) -> float | None:
        """None: TOOL_TIMEOUT."""
        ...

    def is_available(self) -> bool:
        """Whether this deployment has what it needs."""
        ...

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """One call's arguments for those of several; None: they stay several. Only asked of a tool that merges."""
        ...

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        """Raises ToolFailed. Documents come without meaningful numbers (0)."""
        ...
