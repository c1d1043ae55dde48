"""Imports the conversations of another product's export, each as a session in a transaction of its own.

A session's id is derived from its owner and the conversation's id, so importing a file again adds only what is missing.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec
from django.db import IntegrityError
from django.utils import timezone
from msgspec import Struct

from chat.models import Session
from chat.protocol.answer import Answer, doc
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import count_values, storable
from chat.sessions.deletion import delete_for_good, restore_session
from chat.sessions.portable import format as f
from chat.sessions.portable.importer import Origin, store_session
from chat.sessions.portable.parser import parse
from chat.sessions.settings import MAX_CHARACTERS, clean
from features.transfer.foreign_exports.elements import Content, Element, Path, line_of, split
from features.transfer.foreign_exports.foreign_objects import Remark, Unreadable
from features.transfer.foreign_exports.inline_pictures import Lifted, lift
from features.transfer.foreign_exports.products import product_of
from features.transfer.foreign_exports.question_files import Contents, attached, take_sources
from features.transfer.foreign_exports.tree import Conversation, build

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Proxies would cut a longer request; the next request imports the rest.
BUDGET_S: Final = 30.0
# Conversations that exist already or are refused are no progress: they may take this many times as long.
_FAILED_IMPORT_FACTOR: Final = 4
# After this many refused conversations the file is probably of another kind, or there is no room.
MAX_REFUSALS: Final = 100
MAX_REMARKS: Final = 100
# Errors of the account, which all further conversations would raise too.
_ENDS: Final = ("too_many_sessions", "too_many_waiting_files", "storage_full", "file_storage_unavailable")


class Part(NamedTuple):
    """A file of an export. name: in the archive; empty if the export is a single file."""

    name: str
    content: Content


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


class Outcome(Struct):
    """The result of an import. remarks: at most MAX_REMARKS.

    is_complete: False if time or room ran out, or too much was refused; the same file, sent again, continues it.
    """

    imported: list[ImportedConversation]
    refused: list[RefusedConversation]
    remarks: list[ConversationRemark] = []
    is_complete: bool = True


def import_conversations(
    owner: "User", parts: Iterable[Part], contents: Contents, budget_s: float = BUDGET_S
) -> Outcome:
    """Import the conversations of JSON files until the time is up. contents: the contents of questions' files.

    Raises ApiError if a single file does not begin with a conversation of a known product.
    """
    outcome, began_at = Outcome([], []), time.monotonic()
    for part, element in _elements(parts, outcome):
        lifted = Lifted(b"{}", ())
        try:
            lifted = lift(part.content, element)
            imported, remarks = _import_one(owner, lifted, contents)
        except Unreadable as problem:
            if not part.name and not outcome.imported and not outcome.refused and not problem.path:
                raise ApiError(problem.code, problem.message, line=element.line) from None
            outcome.refused.append(_Place(part.name, element, lifted.raw).refusal(problem))
            outcome.is_complete = problem.code not in _ENDS and len(outcome.refused) < MAX_REFUSALS
            factor = _FAILED_IMPORT_FACTOR
        else:
            outcome.imported.append(imported)
            place = _Place(part.name, element, lifted.raw)
            room = MAX_REMARKS - len(outcome.remarks)
            outcome.remarks += [place.remarked(one, imported.session) for one in remarks[:room]]
            factor = 1 if imported.is_new else _FAILED_IMPORT_FACTOR
        if time.monotonic() - began_at > factor * budget_s:
            outcome.is_complete = False
        if not outcome.is_complete:
            break
    return outcome


def _elements(parts: Iterable[Part], outcome: Outcome) -> Iterator[tuple[Part, Element]]:
    """Yield the conversations of all files. If a file is damaged, record a refusal and continue with the next file.

    Raises ApiError instead if it is a single file of which nothing was imported.
    """
    for part in parts:
        try:
            for element in split(part.content):
                yield part, element
        except ApiError as error:
            if not part.name and not outcome.imported:
                raise
            line = int(error.details["line"])
            outcome.refused.append(RefusedConversation("", part.name, line, "", error.code, error.message))


def _import_one(
    owner: "User", lifted: Lifted, contents: Contents
) -> tuple[ImportedConversation, list[Remark]]:
    raw = lifted.raw
    if len(raw) > f.MAX_VALUES and count_values(raw.decode("utf-8", "replace")) > f.MAX_VALUES:
        raise Unreadable("body_too_large", "The conversation holds too many values.", ("",))
    product = product_of(raw)
    conversation = product.read(raw)
    if not conversation.source_id:
        raise Unreadable("field_required", "The conversation has no id.", ("id",))
    origin = Origin(
        uuid5(NAMESPACE_URL, f"turnwire:{owner.pk}:{product.name}:{conversation.source_id}"),
        conversation.created_at,
        conversation.updated_at,
    )
    remarks = None if _is_there(origin) else _store(owner, conversation, origin, lifted, contents)
    imported = ImportedConversation(
        session=origin.id, title=storable(conversation.title)[:200], is_new=remarks is not None
    )
    return imported, remarks or []


def _is_there(origin: Origin) -> bool:
    """Return whether the session is stored.
    Restore it from the trash: a user who sends the file again wants it back."""
    session = Session.with_trash.filter(pk=origin.id).first()
    if session is None or session.deleted_at is None:
        return session is not None
    try:
        restore_session(session)
    except ApiError:
        # Its time in the trash is over, and the sweeper has not deleted it yet.
        with suppress(ApiError):
            delete_for_good(session)
        return False
    return True


def _store(
    owner: "User", conversation: Conversation, origin: Origin, lifted: Lifted, contents: Contents
) -> list[Remark] | None:
    """Store a conversation as a session, and return its remarks; None if another request stored it first.
    Raises Unreadable."""
    tree = build(conversation)
    try:
        session = storable(tree.session | _tags(conversation))
        taken = take_sources(session, lifted.pictures)
        portable = parse(session, timezone.now())
        with attached(owner, portable, taken, contents) as found:
            store_session(owner, found.portable, found.stored, origin)
    except ApiError as error:
        raise Unreadable(error.code, error.message, _path(error.field or "", tree.places)) from None
    except IntegrityError:
        if Session.with_trash.filter(pk=origin.id).exists():
            return None
        raise
    problems = [*taken.problems, *found.problems]
    return [*tree.remarks, *(Remark(one.code, one.message, tree.places[one.number]) for one in problems)]


def _tags(conversation: Conversation) -> dict[str, Any]:
    """Return the members of our format for tags. Tags that are too long are cut, and excess tags are left out."""
    names = clean(name[:MAX_CHARACTERS] for name in clean(conversation.tags)[: f.MAX_TAGS])
    return {"tags": names, "version": f.ADDITIONS_VERSION} if names else {}


def _path(field: str, places: list[Path]) -> Path:
    """Return the path of the message in the other product's conversation from which a member of our format comes."""
    first, _, rest = field.partition(".")
    number, _, member = rest.partition(".")
    if first != "messages" or not number.isdigit():
        return (field,) if field else ("",)
    return places[int(number)] or (member,)


class _Place(NamedTuple):
    """The place of a conversation in an export.
    raw: the conversation without its pictures, which have no line breaks."""

    file: str
    element: Element
    raw: bytes

    def refusal(self, problem: Unreadable) -> RefusedConversation:
        if problem.code in ("invalid_json", "json_too_deep"):
            return RefusedConversation(
                title="",
                file=self.file,
                line=self.element.line,
                field=self._field(problem.path),
                code=problem.code,
                message=problem.message,
            )
        return RefusedConversation(**self._described(problem))

    def remarked(self, remark: Remark, session: UUID) -> ConversationRemark:
        return ConversationRemark(session=session, **self._described(remark))

    def _described(self, one: Unreadable | Remark) -> dict[str, Any]:
        line = self.element.line + line_of(self.raw.decode("utf-8", "replace"), one.path)
        return {
            "title": _title(self.raw),
            "file": self.file,
            "line": line,
            "field": self._field(one.path),
            "code": one.code,
            "message": one.message,
        }

    def _field(self, path: Path) -> str:
        steps = [str(step) for step in path if step != ""]
        field = ".".join(steps if self.element.position is None else [str(self.element.position), *steps])
        return storable(field)[:500]


def _title(raw: bytes) -> str:
    try:
        members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        given: Any = members.get("title") or members.get("name", b'""')  # Claude's
        title: Any = msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return storable(title)[:200] if isinstance(title, str) else ""
