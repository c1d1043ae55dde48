"""Entry: the canonical value of one message between the database and the model. Pure.

The worker loads a branch as entries, and only llm_worker/upstream converts them to the dictionaries of the SDK. New
fields of a message are added here first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

EntryRole = Literal["user", "assistant"]
# CA: the agent's prompt.  P: the project's documents.  D: dynamic context.
BlockKind = Literal["CA", "P", "D"]


class Passage(NamedTuple):
    """The place of a part in a document's text, in characters."""

    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Document:
    """A source that a model may cite. number: identifies it in the prompt, unique on its branch.

    passage: the part that a search found; None: the document itself, or a part that is not cited by itself.
    knowledge_base: the id of the base that the document belongs to; empty for files.
    """

    number: int
    document_id: str
    title: str
    contents: str = ""
    url: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    passage: Passage | None = None
    knowledge_base: str = ""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose text the model reads above the message it came with. token_count: of the whole document."""

    id: str
    name: str
    size_bytes: int
    document: Document
    token_count: int = 0


# That the answer of a tool may have.
MAX_IMAGES: Final = 8


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models. url: a data URL, as model servers take it; empty if the content was not read.

    width_px, height_px: of the stored picture.  page: the number of the page that the picture shows, of a document in
    the same message; the page has no text; 0: not a page.
    """

    id: str
    name: str
    url: str
    width_px: int
    height_px: int
    page: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a model and its response.

    response: the text that the model reads.  token_count: of name and arguments, in the default encoding; 0: unknown.
    images: that the call returned, for models that read images.
    is_given: the caller gave the response, so later turns send it again.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    response: str = ""
    token_count: int = 0
    images: tuple[Image, ...] = ()
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class SentBack:
    """Opaque members that the server of a round wants back with it: signatures, and the name of the reasoning.

    source: the model and its server, to which alone the members are sent.  reasoning_name: the member that held the
    reasoning; empty if there was none.  members: of the message.  calls: further members of calls, by their ids.
    """

    source: str
    reasoning_name: str = ""
    members: Mapping[str, Any] = field(default_factory=dict)
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round:
    """The calls of one cycle in tab order, and the text and reasoning before them."""

    calls: tuple[Call, ...]
    text_before: str = ""
    reasoning: str = ""
    sent_back: SentBack | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A text stored at its place in the branch (context_layout append_only), right above a user message."""

    kind: BlockKind
    text: str
    # Of text, in the default encoding; 0 where unknown.
    token_count: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a branch, other than its root and summaries."""

    id: str
    role: EntryRole
    # Of an answer: all text that a reader saw; it begins with the text_before of all rounds, in order.
    text: str
    # UTC; rendered after each user message.
    sent_at: datetime
    # Of text, in the default encoding; 0 where unknown.
    token_count: int = 0
    reasoning: str = field(default="", compare=False)
    rounds: tuple[Round, ...] = ()
    files: tuple[TextFile, ...] = ()
    images: tuple[Image, ...] = ()
    blocks: tuple[Block, ...] = ()
