"""Parts of tool calls that messages of the API and packets have alike. Pure."""

from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from chat.protocol.answer import Answer, Id, choice, doc


class PassageAnswer(Answer):
    """The place of a part in a document's text, in characters."""

    start: int
    length: int


class SourceAnswer(Answer):
    number: int
    document_id: str
    title: str
    url: str | UnsetType = UNSET
    snippet: Annotated[str | UnsetType, doc("The beginning of the document's text, or of the passage.")] = (
        UNSET
    )
    passage: Annotated[
        PassageAnswer | UnsetType,
        doc("Where a search found it in the document's text. Each passage has a number of its own."),
    ] = UNSET
    knowledge_base: Annotated[str | UnsetType, doc("The one that the document belongs to.")] = UNSET


class ToolImageAnswer(Answer):
    id: Annotated[
        Id, doc("Of a file: `files/{id}/content/` has the image, `files/{id}/thumbnail/` a small copy.")
    ]
    name: str
    width: int
    height: int


class QuestionAnswer(Answer):
    message: str
    form: Annotated[
        dict[str, Any],
        doc(
            "A JSON Schema of an object with primitive properties, as elicitation in the Model Context Protocol."
        ),
    ]


class SignInQuestionAnswer(Answer):
    server: Annotated[
        Id | None,
        doc("`POST mcp-servers/{server}/sign-in/` begins to sign in to it; null: it was deleted."),
    ]
    name: Annotated[str, doc("The server's.")]
    again: Annotated[
        bool, doc("Whether the call had a sign-in, which has expired, or does not have enough rights.")
    ]


class AddressQuestionAnswer(Answer):
    message: str
    url: Annotated[str, doc("Chosen by the server: show it as it is before it is opened in a browser.")]


# The range of the columns.
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class CallFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a tool call that has ended, beside its status and its response.

    A new fact is a member here, a column of ToolCall of the same name, and what the worker sets (llm_worker/loop/tool_round.py).
    It is a member of `section_end`, live and rebuilt, of the calls of messages, and of those in the file of a session.
    """

    duration_ms: Annotated[Count | None, doc("How long the call ran, where known.")] = None


NO_FACTS: Final = CallFacts()


class ToolChange(StrEnum):
    """The difference to the tool of the same name that the user has allowed, the greatest first."""

    SERVER = "server"  # another server has the name
    ADDRESS = "address"  # the server is reached at another address, or in another way
    DEFINITION = "definition"  # another description, schema or annotation


CHANGED: Final = choice(
    ToolChange,
    "Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known.",
)
SUMMARY: Final = doc("The first sentence of its tool's description, in the words of whoever wrote the tool.")
