"""The results of importing the conversations of another product's export, as clients see them."""

from typing import Annotated
from uuid import UUID

from chat.protocol.answer import Answer
from chat.protocol.member_types import doc


class ImportedConversation(Answer):
    session: UUID
    title: str
    is_new: Annotated[bool, doc("False: an earlier import has brought it.")]


class RefusedConversation(Answer):
    title: str
    file: Annotated[str, doc("Its name in the zip; empty: a JSON file was sent.")]
    line: Annotated[int, doc("In the file, from 1.")]
    field: Annotated[str, doc("The path of the member in the file.")]
    code: str
    message: str


class ConversationRemark(RefusedConversation):
    session: Annotated[UUID, doc("The chat, which is imported.")]


class ForeignImportAnswer(Answer):
    imported: list[ImportedConversation]
    refused: list[RefusedConversation]
    remarks: Annotated[
        list[ConversationRemark],
        doc(
            "What the chats that are new lack: contents of files that are refused, pictures of answers, and texts of answers that are empty; 100 at most."
        ),
    ]
    is_complete: Annotated[
        bool, doc("False: time or room ran out; the same file, sent again, continues where it ended.")
    ]
