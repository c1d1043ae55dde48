"""Everything another process or a browser can see: packets, frames, task names, codes. Pure.

Values are frozen and carry their tag in `type`; msgspec turns them into JSON and back. Renaming anything here
breaks clients and workers of another release: extend, and tolerate unknown keys.
"""

from typing import Any, Final, Literal

from msgspec import Struct, json

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

    turn_index: int = 0  # the UI block: one more for every reasoning block, tool round and answer block
    tab_index: int = 0  # which of the parallel calls of one round
    sub_turn_index: int | None = None  # the block inside an agent tool
    model_index: int = 0


# --- Packet bodies ------------------------------------------------------------------------------------


class PacketBody(Struct, frozen=True, tag_field="type"):
    """Base of everything a packet can carry."""


class RunStart(PacketBody, frozen=True, tag="run_start"):
    model: str


class ReasoningStart(PacketBody, frozen=True, tag="reasoning_start"):
    pass


class ReasoningDelta(PacketBody, frozen=True, tag="reasoning_delta"):
    text: str


class ReasoningDone(PacketBody, frozen=True, tag="reasoning_done", omit_defaults=True):
    """duration_ms: from the first word of it to the last; None where nobody has measured it."""

    duration_ms: int | None = None


class MessageStart(PacketBody, frozen=True, tag="message_start", omit_defaults=True):
    documents: list[dict[str, Any]] = []


class MessageDelta(PacketBody, frozen=True, tag="message_delta"):
    text: str


class CitationInfo(PacketBody, frozen=True, tag="citation_info", omit_defaults=True):
    number: int
    document_id: str
    title: str
    url: str | None = None


class TopLevelBranching(PacketBody, frozen=True, tag="top_level_branching"):
    count: int


class ToolStart(PacketBody, frozen=True, tag="tool_start"):
    tool_call_id: str
    name: str


class ToolArgumentsDelta(PacketBody, frozen=True, tag="tool_arguments_delta"):
    tool_call_id: str
    text: str


class ToolArguments(PacketBody, frozen=True, tag="tool_arguments", omit_defaults=True):
    """ref: the tool call of the message that holds them, where they are too long for a packet."""

    tool_call_id: str
    arguments: dict[str, Any]
    ref: str | None = None


class ToolProgress(PacketBody, frozen=True, tag="tool_progress", omit_defaults=True):
    """How far a running call is, as its tool says. Not repeated to clients that read the run later.

    total: in the unit of `done`; None if it is not known.  text: what the call does now.
    """

    tool_call_id: str
    done: float
    total: float | None = None
    text: str = ""


class ToolOutput(PacketBody, frozen=True, tag="tool_output", omit_defaults=True):
    tool_call_id: str
    output: str | None = None
    documents: list[dict[str, Any]] | None = None
    truncated: bool = False
    ref: str | None = None
    images: list[dict[str, Any]] | None = None


class SectionEnd(PacketBody, frozen=True, tag="section_end", omit_defaults=True):
    """Of a call: status: how it ended, None where it completed.  duration_ms: how long it ran, where known."""

    tool_call_id: str | None = None
    status: str | None = None
    duration_ms: int | None = None


class ReportStart(PacketBody, frozen=True, tag="report_start"):
    """What an agent tool found out, as it writes it; not part of the message's text."""


class ReportDelta(PacketBody, frozen=True, tag="report_delta"):
    text: str


class ApprovalRequired(PacketBody, frozen=True, tag="approval_required", omit_defaults=True):
    """question: the message and the form of what the call asks its user.  sign_in: the server that its user has to sign in to.
    address: where they have to go. None of them: whether it may run.
    """

    tool_call_id: str
    tool_call: str
    name: str
    arguments: dict[str, Any]
    question: dict[str, Any] | None = None
    sign_in: dict[str, Any] | None = None
    address: dict[str, Any] | None = None


class Error(PacketBody, frozen=True, tag="error"):
    code: str
    message: str
    retryable: bool


class Stop(PacketBody, frozen=True, tag="stop", omit_defaults=True):
    """finish_reason: one of CUT in chat/transcript/finish.py if the answer is incomplete.  finish_tokens: generated
    until then."""

    stop_reason: StopReason
    finish_reason: str | None = None
    finish_tokens: int | None = None


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

    session: str
    run: str
    attempt: int
    seq: int
    placement: Placement
    obj: AnyPacketBody


class Snapshot(Struct, frozen=True, tag_field="type", tag="snapshot"):
    """Replace what this run showed by `message` (REST shape) and go on after `seq`."""

    run: str
    attempt: int
    seq: int
    message: dict[str, Any]


class Reset(Struct, frozen=True, tag_field="type", tag="reset"):
    """Forget what this run showed; the packets of `attempt` start at 1. Made by the web side, never logged."""

    run: str
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


# --- Error codes a run can end with: is trying again worth it? ---------------------------------------------

RUN_ERRORS: Final[dict[str, tuple[str, bool]]] = {
    "context_too_long": (
        "The conversation is too long for the model. Shorten it, or use a larger model.",
        False,
    ),
    "empty_response": ("The model returned an empty answer.", True),
    "output_limit_reached": ("The model reached its output limit before the answer began.", True),
    "model_refusal": ("The model declined to answer.", False),
    "model_not_configured": ("The model is not configured any more.", False),
    "tool_unknown": ("The model cannot use the requested tool.", False),
    "tool_not_configured": ("The requested tool is not set up on this server.", False),
    "option_unsupported": ("The model cannot have an option that was chosen.", False),
    "upstream_option_rejected": ("The model server refused an option that was chosen.", False),
    "upstream_auth": ("The model server refused the credentials.", False),
    "upstream_quota": ("The budget at the model server is used up.", False),
    "model_not_found": ("The model server does not have this model.", False),
    "content_filtered": ("The model server's content filter rejected the request.", False),
    "upstream_rejected": ("The model server rejected the request.", False),
    "upstream_rate_limited": ("The model server is busy.", True),
    "upstream_unavailable": ("The model server failed or is overloaded.", True),
    "upstream_unreachable": ("The model server could not be reached.", True),
    "upstream_timeout": ("The model server did not answer in time.", True),
    "upstream_interrupted": ("The model server broke off in the middle of the answer.", True),
    "upstream_malformed": ("The model server sent something that is not a chat completion.", True),
    "run_limit_reached": ("The answer used all that one answer may use before it had a text.", False),
    "deadline_exceeded": ("The answer took longer than allowed.", True),
    "worker_lost": ("The answer was interrupted too often.", True),
    "internal_error": ("Something went wrong on our side.", True),
}


def run_error(code: str, subject: str = "") -> Error:
    """subject: the name of what is wrong, if there is one."""
    message, retryable = RUN_ERRORS[code]
    if subject:
        message = f"{message.removesuffix('.')}: {subject}."
    return Error(code=code, message=message, retryable=retryable)
