"""Parts of tool calls that messages of the API and packets have alike. Pure."""

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from chat.protocol.answer import Answer
from chat.protocol.member_types import Id, doc


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
