"""Everything another process or a browser can see: packets, frames, task names, codes. Pure.

Packets and frames are frozen and carry their tag in `type`; msgspec turns them into JSON and back. Renaming anything here
breaks clients and workers of another release: extend, and tolerate unknown keys.
"""

from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Struct, json

from chat.protocol.answer import Id, choice, doc
from chat.protocol.call_answers import (
    CHANGED,
    SUMMARY,
    AddressQuestionAnswer,
    CallFacts,
    QuestionAnswer,
    SignInQuestionAnswer,
    SourceAnswer,
    ToolImageAnswer,
)

# A packet larger than this is stored in Postgres and referenced.
MAX_PACKET_BYTES: Final = 64 * 1024


class CloseCode:
    """Websocket close codes (RFC 6455 section 7.4; 4000 and up are our own)."""

    INVALID_TEXT: Final = 1007
    FRAME_TOO_LARGE: Final = 1009
    RESTART: Final = 1012
    NOT_AUTHENTICATED: Final = 4401
    SLOW_CONSUMER: Final = 4408
    FLOODING: Final = 4429
    TOO_MANY_SOCKETS: Final = 4430


StopReason = Literal["finished", "user_cancelled", "error"]


class Placement(Struct, frozen=True):
    """Where a packet belongs on the screen."""

    turn_index: Annotated[
        int, doc("The UI block; increases with every reasoning block, tool round and answer block.")
    ] = 0
    tab_index: Annotated[int, doc("Which of the parallel calls of one round.")] = 0
    sub_turn_index: Annotated[int | None, doc("The block inside an agent tool.")] = None
    model_index: int = 0


# --- Packet bodies ------------------------------------------------------------------------------------


class PacketBody(Struct, frozen=True, tag_field="type"):
    """Base of everything a packet can carry."""

    # Whether clients that read the run later get it in another form, or not at all.
    is_passing: ClassVar[bool] = False


class RunStart(PacketBody, frozen=True, tag="run_start"):
    model: str


class ReasoningStart(PacketBody, frozen=True, tag="reasoning_start"):
    pass


class ReasoningDelta(PacketBody, frozen=True, tag="reasoning_delta"):
    text: str


class ReasoningDone(PacketBody, frozen=True, tag="reasoning_done", omit_defaults=True):
    duration_ms: Annotated[
        int | None, doc("From the first word of it to the last; left out where nobody has measured it.")
    ] = None


class MessageStart(PacketBody, frozen=True, tag="message_start", omit_defaults=True):
    documents: list[SourceAnswer] = []


class MessageDelta(PacketBody, frozen=True, tag="message_delta"):
    text: str


class CitationInfo(PacketBody, frozen=True, tag="citation_info", omit_defaults=True):
    number: int
    document_id: str
    title: str
    url: str | None = None


class TopLevelBranching(PacketBody, frozen=True, tag="top_level_branching"):
    """The number of calls in the round at this turn_index, if more than one. Comes before the second tool_start; the
    first call may have started before, if it was shown while the model wrote it."""

    count: int


class ToolStart(PacketBody, frozen=True, tag="tool_start"):
    tool_call_id: str
    name: str


class ToolArgumentsDelta(PacketBody, frozen=True, tag="tool_arguments_delta"):
    """A piece of the arguments while the model writes them, or of the stored ones; tool_arguments has the whole."""

    is_passing: ClassVar[bool] = True
    tool_call_id: str
    text: str


class ToolArguments(PacketBody, frozen=True, tag="tool_arguments", omit_defaults=True):
    tool_call_id: str
    arguments: dict[str, Any]
    ref: Annotated[
        str | None,
        doc("Set if the arguments are too long for a packet and omitted. Names the tool call that has them."),
    ] = None


class ToolProgress(PacketBody, frozen=True, tag="tool_progress", omit_defaults=True):
    """How far a running call is, as its tool says. Not repeated to clients that read the run later."""

    is_passing: ClassVar[bool] = True
    tool_call_id: str
    done: float
    total: Annotated[float | None, doc("In the unit of done; left out if it is not known.")] = None
    text: Annotated[str, doc("What the call does now; at most 200 characters.")] = ""


class ToolOutput(PacketBody, frozen=True, tag="tool_output", omit_defaults=True):
    tool_call_id: str
    output: str | None = None
    documents: list[SourceAnswer] | None = None
    truncated: bool = False
    ref: str | None = None
    images: Annotated[list[ToolImageAnswer] | None, doc("That the tool returned.")] = None


class SectionEnd(PacketBody, CallFacts, frozen=True, tag="section_end", omit_defaults=True):
    tool_call_id: str | None = None
    status: Annotated[
        str | None,
        choice(
            ["failed", "refused", "unknown", "pending"],
            "How the call ended; left out if it completed, and for blocks that are not calls. `pending`: the program "
            "that asked carries it out.",
        ),
    ] = None


class ReportStart(PacketBody, frozen=True, tag="report_start"):
    """The report of an agent tool follows; it is not part of the message's text."""


class ReportDelta(PacketBody, frozen=True, tag="report_delta"):
    text: str


class ApprovalRequired(PacketBody, frozen=True, tag="approval_required", omit_defaults=True):
    """The call waits for its user: for an approval, if it has no question, sign_in or address."""

    tool_call_id: str
    tool_call: str
    name: str
    arguments: dict[str, Any]
    question: Annotated[QuestionAnswer | None, doc("What the call asks its user.")] = None
    sign_in: Annotated[
        SignInQuestionAnswer | None,
        doc("What the user has to sign in to, after which the call goes on by itself."),
    ] = None
    address: Annotated[
        AddressQuestionAnswer | None,
        doc("Where the user has to go, which they answer by approving when they are done."),
    ] = None
    changed: Annotated[str | None, CHANGED] = None
    summary: Annotated[str | None, SUMMARY] = None


class Error(PacketBody, frozen=True, tag="error"):
    code: Annotated[str, doc("One of these, or whatever the file of an imported answer says.")]
    message: str
    retryable: bool


class Stop(PacketBody, frozen=True, tag="stop", omit_defaults=True):
    """finish_reason: one of CUT in chat/transcript/finish.py."""

    stop_reason: StopReason
    finish_reason: Annotated[str | None, doc("Only if the answer is incomplete: why.")] = None
    finish_tokens: Annotated[
        int | None, doc("What the model had generated when it was cut at its output limit.")
    ] = None


AnyPacketBody = (
    RunStart
    | ReasoningStart
    | ReasoningDelta
    | ReasoningDone
    | MessageStart
    | MessageDelta
    | CitationInfo
    | TopLevelBranching
    | ToolStart
    | ToolArgumentsDelta
    | ToolArguments
    | ToolProgress
    | ToolOutput
    | SectionEnd
    | ReportStart
    | ReportDelta
    | ApprovalRequired
    | Error
    | Stop
)

# --- Frames of the run's log --------------------------------------------------------------------------------


class Packet(Struct, frozen=True, tag_field="type", tag="packet"):
    """One event of a run; seq is contiguous from 1 within an attempt."""

    session: Id
    run: Id
    attempt: int
    seq: int
    placement: Placement
    obj: AnyPacketBody


class Snapshot(Struct, frozen=True, tag_field="type", tag="snapshot"):
    """Replace what this run has shown by `message` (as REST presents it) and continue after seq."""

    run: Id
    attempt: int
    seq: int
    message: dict[str, Any]


class Reset(Struct, frozen=True, tag_field="type", tag="reset"):
    """Discard what this run has shown; its packets start again at seq 1. Not part of the log."""

    run: Id
    attempt: int
    reason: str


LogEntry = Packet | Snapshot

encode = json.Encoder().encode
decode_log_entry = json.Decoder(LogEntry).decode


class RunAddress(Struct, frozen=True):
    """Which log a packet belongs to. attempt is the epoch of the log and the fence of its producer."""

    session: str
    run: str
    attempt: int
    model_index: int = 0
