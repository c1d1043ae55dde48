"""The interface of tools: what a tool declares, receives and returns. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from chat.transcript.entries import Document
from chat.transcript.forms import Question
from chat.transcript.questions import Answered, AnyQuestion
from chat.transcript.tool_annotations import DEFAULT_RULE, READ_ONLY, Annotations, ApprovalRule
from llm_worker.mcp.configuration import Answer, Caller, Configuration
from llm_worker.side_requests.artifact import Artifact, no_hits
from llm_worker.side_requests.withheld import Material


class ToolFailed(Exception):
    """The call failed; the model reads the message, one sentence, and may try something else."""


class ToolOutcomeUnknown(ToolFailed):
    """The call may or may not have taken effect."""


class InputNeeded(Exception):
    """The tool asks the user something before it does what it was called for. It is called again with the answer."""

    def __init__(self, question: AnyQuestion) -> None:
        self.question = question
        super().__init__()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call.

    response: what the model reads; if empty, the documents are rendered as the response.
    note: a sentence to the model beside the documents, such as that a later search finds more.
    documents: those found, best first; they are numbered by the caller, not by the tool.
    is_safe_summary: the response stands for documents, none of which may be shown.
    is_knowledge_search: knowledge bases were searched; the log tells when the result is stored.
    arguments: those that really ran, which are stored and shown from then on; None: those of the call.
    structured: the response as JSON, which is stored for clients and never sent to the model; None: there is none.
    images: the contents of pictures, not parsed, which are stored for the user, and for models that see.
    """

    response: str = ""
    documents: tuple[Document, ...] = ()
    note: str = ""
    is_safe_summary: bool = False
    is_knowledge_search: bool = False
    arguments: Mapping[str, Any] | None = None
    structured: Mapping[str, Any] | None = None
    images: tuple[bytes, ...] = ()


class Sources(Protocol):
    """The texts that the user of a run can see in its session. The documents have no numbers yet."""

    async def search_project(self, query: str) -> Sequence[Document]:
        """Passages of the project's files, best first."""
        ...

    async def is_indexing(self) -> bool:
        """Whether a later search of the project finds more."""
        ...

    async def read_file(self, file: str, start: int, length: int) -> Document:
        """`length` characters of a file from `start`, or up to its end. Raises ToolFailed."""
        ...


class NoSources:
    """Of a run without files."""

    async def search_project(self, query: str) -> Sequence[Document]:  # noqa: ARG002
        return ()

    async def is_indexing(self) -> bool:
        return False

    async def read_file(self, file: str, start: int, length: int) -> Document:  # noqa: ARG002
        raise ToolFailed("There is no such file in this chat.")


class Knowledge(Protocol):
    """The documents of a run's knowledge bases, as its user's roles allow it at the time of each call."""

    async def is_restricted(self) -> bool:
        """Whether nothing of any document may reach the run's model."""
        ...

    async def search(self, query: str, base: str) -> Sequence[Document]:
        """Passages, best first. base: the id or name of the one to search; empty: all of the run."""
        ...

    async def is_indexing(self) -> bool:
        """Whether a later search finds more."""
        ...

    async def summarise(self, queries: Sequence[str], base: str) -> Artifact:
        """What a restricted run is told instead of passages. Never fails."""
        ...

    async def withhold(self, material: Material) -> Material:
        """Without what the user may no longer read. Asked before each request."""
        ...


class NoKnowledge:
    """Of a run without knowledge bases."""

    async def is_restricted(self) -> bool:
        return False

    async def search(self, query: str, base: str) -> Sequence[Document]:  # noqa: ARG002
        return ()

    async def is_indexing(self) -> bool:
        return False

    async def summarise(self, queries: Sequence[str], base: str) -> Artifact:  # noqa: ARG002
        return no_hits()

    async def withhold(self, material: Material) -> Material:
        return material


class Page(NamedTuple):
    """The text of a page of the web. url: where its address led.  published: ISO 8601; empty if unknown, as the title."""

    url: str
    text: str
    title: str = ""
    published: str = ""


class Pages(Protocol):
    """The pages that a run opens. A page is fetched once in an attempt, in however many parts it is read."""

    async def open(self, url: str) -> Page:
        """Raises ToolFailed, whose message has the code of the refusal."""
        ...


class Servers(Protocol):
    """The MCP servers of which a run was offered tools."""

    async def call(
        self,
        configuration: Configuration,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
    ) -> Answer:
        """tool: the server's own name. Raises ServerUnavailable, CallFailed, CallLost, Asked."""
        ...


class NoServers:
    """Of a run without tools of servers."""

    async def call(self, configuration: Configuration, *_: object) -> Answer:
        raise ToolFailed(f"There is no server named {configuration.name}.")


class ToolContext(Protocol):
    """What a tool may use while it runs. The tool's coroutine is cancelled on a stop or at its time limit.

    key: the idempotency key of the call, the same if it is executed again after a crash: whoever it acts on can tell that it was there.
    answers: to what the call has asked its user (InputNeeded), oldest first; None: it can ask nothing.
    """

    key: str
    answers: tuple[Answered, ...] | None
    now: datetime  # UTC
    sources: Sources
    knowledge: Knowledge
    pages: Pages
    servers: Servers

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        """Say how far the call is. total: None if it is not known."""
        ...

    async def rewrite_queries(self, queries: Sequence[str]) -> Sequence[str]:
        """Other queries that find the same; empty if there are none, or the setting is off. Never fails."""
        ...

    async def research(self, instructions: str, question: str, tools: Sequence["Tool"], cycles: int) -> str:
        """Let the run's model work on a question in an inner loop; returns its report.

        The calls of the inner loop are stored under this call and shown inside it; the documents it finds get numbers
        that the outer answer may cite.
        """
        ...


class Tool(Protocol):
    """One tool, and the defaults of its subclasses. Adding one takes a file in this folder and a line in its registry."""

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
        return False

    @property
    def finds_pages(self) -> bool:
        """Whether what it finds are excerpts of pages of the web."""
        return False

    @property
    def opens_pages(self) -> bool:
        """Whether it reads a page of the web."""
        return False

    @property
    def merges(self) -> bool:
        """Whether several calls in one step are merged into one (`merge`)."""
        return False

    @property
    def annotations(self) -> Annotations:
        """What its calls may change: decides whether they need approval, and whether a lost one is executed again."""
        return READ_ONLY

    @property
    def approval_rule(self) -> ApprovalRule:
        """When its calls need approval, unless an admin has made a rule of its name."""
        return DEFAULT_RULE

    @property
    def time_limit_s(self) -> float | None:
        """None: TOOL_TIMEOUT."""
        return None

    def is_available(self) -> bool:
        """Whether the deployment provides what the tool needs."""
        return True

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:  # noqa: ARG002
        """The arguments of one call that replaces several; None: they stay separate. Called only if `merges`."""
        return None

    def count_searches(self, arguments: Mapping[str, Any]) -> int:  # noqa: ARG002
        """How many searches a call with these arguments makes itself, for the limit on those of a run."""
        return 0

    def question(self, arguments: Mapping[str, Any]) -> Question | None:  # noqa: ARG002
        """What a call with these arguments asks its user: it waits, and the answer is its result. None: it runs. Raises
        ToolFailed.
        """
        return None

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        """Execute a call. Raises ToolFailed, InputNeeded. The numbers of the returned documents are ignored."""
        ...
