"""The interface of tools: their declarations, their context and their results. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from chat.transcript.entries import Document
from chat.transcript.questions import Answered, AnyQuestion, Question
from chat.transcript.tools import DEFAULT_RULE, READ_ONLY, Annotations, ApprovalRule, ToolIdentity
from llm_worker.request.parameter_schema import accepted_schema
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.side_requests.artifact import Artifact
from llm_worker.side_requests.withheld import LoopTexts

Part = TypeVar("Part")


class ToolFailed(Exception):
    """The call failed; the model reads the message, one sentence, and may try something else."""


class ToolOutcomeUnknown(ToolFailed):
    """The call may or may not have taken effect."""


class InputNeeded(Exception):
    """The tool asks the user something before it can complete the call. It is called again with the answer."""

    def __init__(self, question: AnyQuestion) -> None:
        self.question = question
        super().__init__()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call.

    response: the text for the model; if empty, the documents are rendered as the response.
    note: a sentence to the model beside the documents, such as that a later search finds more.
    documents: the documents found, best first; they are numbered by the caller, not by the tool.
    is_safe_summary: the response stands for documents, none of which may be shown.
    is_knowledge_search: knowledge bases were searched; the log tells when the result is stored.
    arguments: the arguments that really ran, stored and shown from then on; None: the arguments of the call.
    structured: the response as JSON, which is stored for clients and never sent to the model; None: there is none.
    images: the contents of pictures, not parsed, stored for the user and for models with vision.
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
        """Search the project's files. Returns passages, best first."""
        ...

    async def is_indexing(self) -> bool:
        """Return whether a later search of the project may find more."""
        ...

    async def read_file(self, file: str, start: int, length: int) -> Document:
        """Read `length` characters of a file from `start`, or up to its end. Raises ToolFailed."""
        ...


class Knowledge(Protocol):
    """The documents of a run's knowledge bases, as its user's roles allow it at the time of each call."""

    async def is_restricted(self) -> bool:
        """Return whether no text of any document may reach the run's model."""
        ...

    async def search(self, query: str, base: str) -> Sequence[Document]:
        """Search for passages, best first. base: the id or name of the base to search; empty: all bases of the run."""
        ...

    async def is_indexing(self) -> bool:
        """Return whether a later search may find more."""
        ...

    async def summarise(self, queries: Sequence[str], base: str) -> Artifact:
        """Return the artifact that a restricted run reads instead of passages. Never fails."""
        ...

    async def withhold(self, material: LoopTexts) -> LoopTexts:
        """Remove texts that the user may no longer read. Called before each request."""
        ...


class Page(NamedTuple):
    """The text of a web page. url: after redirects.  published: ISO 8601.  title, published: empty if unknown."""

    url: str
    text: str
    title: str = ""
    published: str = ""


class Pages(Protocol):
    """The pages that a run opens. An attempt fetches a page once, even if it reads it in several parts."""

    async def open(self, url: str) -> Page:
        """Open the page at an address. Raises ToolFailed, whose message has the code of the refusal."""
        ...


class ToolContext(Protocol):
    """The services that a tool may use while it runs. Its coroutine is cancelled on a stop or at its time limit.

    key: the idempotency key of the call, the same if it is executed again after a crash, so that servers can recognise
    a repeated call.
    answers: the answers to questions of the call (InputNeeded), oldest first; None: it cannot ask its user.
    """

    key: str
    answers: tuple[Answered, ...] | None
    now: datetime  # UTC
    sources: Sources
    knowledge: Knowledge
    pages: Pages

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        """Report the progress of the call. total: None if it is not known."""
        ...

    def part(self, kind: type[Part]) -> Part:
        """Return the part of a feature in this process (llm_worker/worker_part.py)."""
        ...

    async def rewrite_queries(self, queries: Sequence[str]) -> Sequence[str]:
        """Return other queries with the same aim; empty if there are none, or the setting is off. Never fails."""
        ...

    async def research(self, instructions: str, question: str, tools: Sequence["Tool"], cycles: int) -> str:
        """Let the run's model work on a question in an inner loop, and return its report.

        The calls of the inner loop are stored under this call and shown inside it; the documents it finds get numbers
        that the outer answer may cite.
        """
        ...


class Tool:
    """A tool: what it is, as data, and how a call of it runs. A tool sets the members that differ from the defaults."""

    name: str
    #: For the model, in the schema of the request.
    description: str
    #: The JSON Schema of the arguments object.
    parameters: Mapping[str, Any]
    #: When and how to use the tool: one paragraph of the system prompt.
    guidance: str = ""
    #: It finds documents to cite.
    searches: bool = False
    #: It finds excerpts of web pages.
    finds_pages: bool = False
    #: It reads a web page.
    opens_pages: bool = False
    #: Agent tools may call it.
    works_inside_agents: bool = False
    #: Several calls in one step become one (merge()).
    merges: bool = False
    #: The possible effects of its calls: decide whether calls need approval, and whether a lost call runs again.
    annotations: Annotations = READ_ONLY
    #: The program that asked carries its calls out: the run ends, and hands them over.
    is_callers: bool = False
    #: When calls need approval, unless an admin has made a rule for the name of the tool.
    approval_rule: ApprovalRule = DEFAULT_RULE
    #: The id of its server, and the digest of how that is reached; empty: it is built in.
    server: tuple[str, str] = ("", "")
    #: Which tool it is: a user's approval holds for this one, not for others of the same name.
    identity: ToolIdentity = ToolIdentity()
    #: Staff have disabled it since the run was loaded: it is not offered any more.
    is_disabled: bool = False
    #: The time limit of a call; None: TOOL_TIMEOUT_S.
    time_limit_s: float | None = None

    def is_available(self) -> bool:
        """Return whether the deployment provides everything that the tool needs."""
        return True

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Return arguments of one call that replaces several; None: they stay separate. Called only if `merges`."""
        return None

    def count_searches(self, arguments: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Count the searches that a call with these arguments makes itself, for the limit of the run."""
        return 0

    def question(self, arguments: Mapping[str, Any]) -> Question | None:  # noqa: ARG002
        """Return the question that a call with these arguments asks its user; None if it just runs.

        Such a call waits, and the answer is its result. Raises ToolFailed.
        """
        return None

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        """Execute a call. Raises ToolFailed, InputNeeded. The numbers of the returned documents are ignored."""
        raise NotImplementedError


def tool_schemas(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Build the `tools` of a request, sorted by name: the order is part of the prefix that servers cache."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": accepted_schema(tool.parameters),
            },
        }
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


def callers_names(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if tool.is_callers)


def schema_tokens(tools: Sequence[Tool]) -> int:
    """Count the tokens of the schemas in the default encoding, once in a process for each choice of tools."""
    return estimate_tokens(msgspec.json.encode(tool_schemas(tools)).decode(), 0) if tools else 0
