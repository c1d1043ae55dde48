"""The JSON format of an exported session, and of the manifest in an archive: versioned and strict. Pure.

Messages are numbered from 0, the root, each after its parent; the file contains no database ids. Unknown members are
refused, so a new member requires a new version.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from chat.protocol.call_answers import CallFacts, Count
from chat.transcript.entries import MAX_IMAGES
from chat.transcript.usage import TokenUsage

NAME: Final = "turnwire.session"
# 2 added Message.additional_context and Run.origin. Files of version 1 are read as well.
VERSION: Final = 2
# Of the manifest of an archive: 3 added the members of File that describe the content. JSON files stay at 2, which
# older releases read.
ARCHIVE_VERSION: Final = 3
# Of both, only if they contain tags or edited answers, which 4 added: older releases read all other files.
ADDITIONS_VERSION: Final = 4

# Of archives, only if calls in them returned images, which 5 added.
IMAGES_VERSION: Final = 5
# Of both, only if the session has settings beside while_answering, which 6 added.
SETTINGS_VERSION: Final = 6

# Of the JSON itself.
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_VALUES: Final = 1_000_000
# Limits of a session: more than people ever reach, and little enough that reading it does not slow down others.
MAX_MESSAGES: Final = 10_000
MAX_PATH: Final = 5_000  # messages on one branch
MAX_FILES: Final = 50  # of a message, as in a send
MAX_ALL_FILES: Final = 2_000
MAX_CALLS: Final = 1_000  # of an answer, those inside agent tools included
MAX_ALL_CALLS: Final = 20_000
MAX_NESTING: Final = 4  # agent tools inside agent tools
MAX_DOCUMENTS: Final = 200  # of a call
MAX_TAGS: Final = 20
MAX_CITATIONS: Final = 1_000  # of an answer
MAX_TEXT: Final = 2_000_000  # characters of one text

# Members that have the names of their columns; RUN and CALL, below, are such as well.
TOKENS: Final = TokenUsage._fields
# The ranges of the columns. New documents are numbered from the highest position, which is therefore far below.
Small = Annotated[int, Meta(ge=0, le=2**15 - 1)]
Position = Annotated[int, Meta(ge=1, le=1_000_000)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Entry = Annotated[str, Meta(pattern=r"^files/[1-9][0-9]{0,4}$")]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Moment = Annotated[datetime, Meta(tz=True)]
Money = Annotated[str, Meta(pattern=r"^\d{1,9}(\.\d{1,9})?$")]
Tag = Annotated[str, Meta(min_length=1, max_length=40)]
Role = Literal["root", "user", "assistant", "summary"]
# A run in progress is imported as stopped.
RunStatus = Literal["queued", "running", "stopping", "waiting", "completed", "failed", "stopped"]
# A tool call in progress is imported as unknown.
CallStatus = Literal["pending", "waiting", "running", "completed", "failed", "refused", "unknown"]


class Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all objects in the file. Members with their default value are left out."""


class File(Part, frozen=True):
    """A file attached to a user message. entry: the archive's entry with its content; None if it is not in the archive.

    content_type and token_count inform readers; an import determines them itself. is_missing: the content could not be
    read to its end.
    """

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    kind: Literal["text", "image", "tabular"] = "text"
    number: Position | None = None  # of its document in the prompt
    content_type: Annotated[str, Meta(max_length=200)] = ""
    token_count: Count | None = None  # of the extracted text
    entry: Entry | None = None
    size: Count | None = None  # bytes
    sha256: Digest | None = None
    is_missing: bool = False


class Document(Part, frozen=True):
    """A document found by a tool."""

    number: Position
    document_id: Annotated[str, Meta(max_length=500)]
    title: Text = ""
    url: Text = ""
    snippet: Text = ""


class Citation(Part, frozen=True):
    """A document cited by an answer."""

    number: Position
    document_id: Annotated[str, Meta(max_length=500)]
    title: Text = ""
    url: Text = ""


class Feedback(Part, frozen=True):
    is_positive: bool | None = None
    text: Annotated[str, Meta(max_length=10_000)] = ""


class Error(Part, frozen=True):
    code: Annotated[str, Meta(min_length=1, max_length=40)]
    message: str = ""
    retryable: bool = False


class Usage(Part, frozen=True):
    """Token counts as the model server reported them, else estimated. cost: a decimal number in a string."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    estimated_tokens: Count | None = None
    cost: Money | None = None


class _StoredCall(Part, CallFacts, frozen=True):
    tool_call_id: Annotated[str, Meta(max_length=200)]
    name: Annotated[str, Meta(max_length=64)]
    turn_number: Small
    tab_index: Small = 0
    status: CallStatus = "completed"
    arguments: dict[str, Any] = {}
    response: Text = ""
    structured: dict[str, Any] | None = None
    documents: Annotated[list[Document], Meta(max_length=MAX_DOCUMENTS)] = []
    images: Annotated[list[File], Meta(max_length=MAX_IMAGES)] = []
    report: Text = ""
    report_reasoning: Text = ""
    text_before: Text = ""
    reasoning: Text = ""
    reasoning_ms: Count | None = None


class Call(_StoredCall, frozen=True, kw_only=True):
    """One tool call. children: the calls made inside it by an agent tool.  images: that it returned, in archives."""

    children: list["Call"] = []


CALL: Final = tuple(
    name for name in Call.__struct_fields__ if name not in ("documents", "images", "children")
)


class Run(Part, frozen=True):
    """The run of an answer. turn: the number of its turn among those of the question, from 0.

    origin: of a retry, the number of the earlier turn in whose columns the answer stands.
    """

    # Empty: told by a program that named none.
    model: Annotated[str, Meta(max_length=200)]
    created_at: Moment
    ended_at: Moment | None = None
    turn: Small = 0
    origin: Small | None = None
    model_index: Small = 0
    status: RunStatus = "completed"
    error: Error | None = None
    forced_tool: Annotated[str, Meta(max_length=64)] = ""
    usage: Usage = Usage()
    time_to_first_token_ms: Count | None = None
    reasoning_ms: Count | None = None
    cycles: Small = 0
    finish_reason: Annotated[str, Meta(max_length=40)] = ""
    finish_tokens: Count | None = None


RUN: Final = tuple(name for name in Run.__struct_fields__ if name not in ("turn", "origin", "error", "usage"))


class Edited(Part, frozen=True):
    """Mark of an answer that the user edited.
    original: the number of the edited sibling.  model: the name of its model."""

    original: Count | None = None
    model: Annotated[str, Meta(max_length=200)] = ""


class Message(Part, frozen=True):
    """A node of the tree. parent, latest_child and last_summarized_message are numbers of messages."""

    id: Count
    role: Role
    sent_at: Moment
    parent: Count | None = None
    text: Text = ""
    reasoning: Text = ""
    latest_child: Count | None = None
    last_summarized_message: Count | None = None
    additional_context: Annotated[str, Meta(max_length=100_000)] = ""  # of a user message: sent beside it
    files: Annotated[list[File], Meta(max_length=MAX_FILES)] = []
    tool_calls: list[Call] = []
    citations: Annotated[list[Citation], Meta(max_length=MAX_CITATIONS)] = []
    feedback: Feedback | None = None
    run: Run | None = None
    edited: Edited | None = None  # only without a run


class PlacedFile(NamedTuple):
    """A file of the manifest. at: its path there.  is_image: a tool call returned it; otherwise it is attached."""

    at: str
    file: File
    is_image: bool


def placed_files(messages: Sequence[Message]) -> Iterator[PlacedFile]:
    """Yield the files of all messages, and the images of their calls."""
    for number, message in enumerate(messages):
        for index, file in enumerate(message.files):
            yield PlacedFile(f"messages.{number}.files.{index}", file, is_image=False)
        yield from _placed_images(message.tool_calls, f"messages.{number}.tool_calls")


def _placed_images(calls: Sequence[Call], at: str) -> Iterator[PlacedFile]:
    for place, call in enumerate(calls):
        for index, file in enumerate(call.images):
            yield PlacedFile(f"{at}.{place}.images.{index}", file, is_image=True)
        yield from _placed_images(call.children, f"{at}.{place}.children")


class Portable(Part, frozen=True):
    """The whole file."""

    format: Literal["turnwire.session"]
    version: Literal[1, 2, 3, 4, 5, 6]
    messages: Annotated[list[Message], Meta(max_length=MAX_MESSAGES)]
    title: Annotated[str, Meta(max_length=200)] = ""
    while_answering: Literal["reject", "enqueue", "interrupt"] = "enqueue"
    tags: Annotated[list[Tag], Meta(max_length=MAX_TAGS)] = []
    settings: Annotated[
        dict[str, Any],
        Meta(
            description="`tools`, `reminder`, `prompt` and `options` of the session. An import leaves out what it would"
            " refuse in a request, and other members."
        ),
    ] = {}
