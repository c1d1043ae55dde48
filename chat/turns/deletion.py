"""Deletes a message with all below it: moves them into a session of their own, which is in the trash, and back.

So whatever reads a session leaves them out without knowing of it. Above them that session has an empty root and, for an
answer, a copy of the question's text.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from chat.events import session_events, session_list
from chat.events.session_events import record_session_changed
from chat.models import (
    Approval,
    ChatMessage,
    Compression,
    CompressionStatus,
    EditedAnswer,
    Role,
    Run,
    Session,
    Share,
    SideRequest,
    Turn,
)
from chat.models.message import REPLIES
from chat.models.sql import statements
from chat.protocol.errors import ApiError
from chat.transcript.readable_text import provisional_title
from chat.turns.current_branch import lock_session, show_path

# The rows that name their session and belong to messages, by the path to these. Events stay: they are numbered.
MOVED: Final[tuple[tuple[Any, str], ...]] = (
    (ChatMessage, "pk"),
    (Turn, "user_message"),
    (Compression, "parent"),
    (Share, "leaf"),
    (Approval, "tool_call__run__message"),
    (SideRequest, "run__message"),
    (SideRequest, "compression__parent"),
)


def delete_message(message: ChatMessage, *, for_good: bool = False) -> Session | None:
    """Delete a question or an answer with all below it; the only answer of a question with the question.

    Returns the session in the trash that restores them; None: they are deleted for good, by the sweeper. Raises
    ApiError, also if one of them is being answered; then nothing was changed.
    """
    with transaction.atomic():
        session = lock_session(message.session, message)
        keep = timedelta(0 if for_good or session.is_temporary else settings.KEEP_DELETED_DAYS)
        top = _top_of(session, message)
        above = session.messages.get(children=top)
        ids = list(ChatMessage.objects.subtree_of(top).values_list("pk", flat=True))
        _check_answered(ids)
        _leave_current_branch(session, top, above, ids)
        _cut_links(session, ids)
        part = _start_part(session, top)
        _move(ids, part)
        _place_below(_stand_in(part, above), top)
        show_path(part, top)
        Session.with_trash.move_to_trash(part.pk, keep)
        record_session_changed(session)
    session_list.publish_deleted(part)
    return part if keep else None


def put_back(part: Session) -> Session | None:
    """Put a deleted part back to its place, and make it current; returns the session it belongs to.

    None: its place is gone, or in the trash. Raises ApiError if that happens now, or the part is not in the trash any
    more.
    """
    places = ChatMessage.objects.filter(session__deleted_at=None).select_related("session")
    place = places.filter(pk=part.part_of).first() if part.part_of else None
    if place is None:
        return None
    with transaction.atomic():
        session = lock_session(place.session, place)
        if not Session.with_trash.in_trash().filter(pk=part.pk).select_for_update():
            raise ApiError("session_not_found")
        above = "parent__parent" if place.role == Role.USER else "parent"
        top = ChatMessage.objects.replies().get(session=part, **{f"{above}__role": Role.ROOT})
        _move(ChatMessage.objects.subtree_of(top).values_list("pk", flat=True), session)
        Turn.objects.filter(session=part).update(session=session, user_message=place)
        ChatMessage.objects.filter(pk=top.pk).update(parent=place, parent_role=place.role)
        Session.with_trash.filter(pk=part.pk).delete()
        show_path(session, top)
        record_session_changed(session)
    session_list.publish_deleted(part)
    return session


def _top_of(session: Session, message: ChatMessage) -> ChatMessage:
    """Return the uppermost message to delete: `message`, or its question if that has no other answer. Raises ApiError."""
    if message.role not in REPLIES:
        raise ApiError("role_order", "Only a question or an answer can be deleted.")
    top = session.messages.get(pk=message.pk)
    is_only_answer = top.role == Role.ASSISTANT and not top.siblings().exclude(pk=top.pk).exists()
    return session.messages.get(children=top) if is_only_answer else top


def _check_answered(ids: Sequence[UUID]) -> None:
    """Raise ApiError if a turn with one of these messages has not ended. The caller holds the session's lock."""
    turns = Turn.objects.filter(Q(user_message__in=ids) | Q(runs__message__in=ids), ended_at=None)
    if turns.exists():
        raise ApiError("turn_in_progress")


def _leave_current_branch(
    session: Session, top: ChatMessage, above: ChatMessage, ids: Sequence[UUID]
) -> None:
    """Show the nearest earlier sibling of `top` in its place, else a later one, else nothing."""
    if above.latest_child_id == top.pk:
        others = top.siblings().exclude(pk=top.pk).only("id", "parent")
        nearest = others.filter(sent_at__lt=top.sent_at).last() or others.first()
        if nearest:
            nearest.choose()
        else:
            above.end_branch()
    if session.leaf_id in ids:
        session.point_at(list(ChatMessage.objects.current_path_from(above).only("id"))[-1])


def _cut_links(session: Session, ids: Sequence[UUID]) -> None:
    """Delete or change what refers to these messages and to others. Nothing of it comes back with the messages."""
    written = Compression.objects.under_way().filter(Q(parent__in=ids) | Q(leaf__in=ids))
    has_ended = written.update(status=CompressionStatus.NOTHING, ended_at=Now(), lease_until=None)
    Compression.objects.filter(leaf__in=ids).exclude(parent__in=ids).update(leaf=F("parent"))
    # Of a branch that is divided: the older messages that they cover are sent again.
    summaries = session.messages.filter(role=Role.SUMMARY, pk__in=ids).exclude(
        last_summarized_message__in=ids
    )
    is_any_gone, _ = summaries.delete()
    if has_ended or is_any_gone:
        session_events.record(session, "compression", {"status": "deleted"})
    # They may be sent again meanwhile.
    session.messages.filter(pk__in=ids).update(client_message_id=None, request_digest="")
    edited = EditedAnswer.objects.filter(Q(original__in=ids) ^ Q(message__in=ids), message__session=session)
    edited.update(original=None)


def _start_part(session: Session, top: ChatMessage) -> Session:
    return Session.objects.start(
        session.owner,
        title=provisional_title(top.text) or session.title,
        has_picked_bases=session.has_picked_bases,
        part_of=top.parent_id,
    )


def _move(ids: Collection[UUID], to: Session) -> None:
    """Move messages with their rows to another session. The tree keys are checked at the commit."""
    messages = list(ids)
    for model, path in MOVED:
        model.objects.filter(**{f"{path}__in": messages}).update(session=to)
    # Pages end in messages that may not move.
    Share.objects.filter(leaf__in=messages).update(pages=None)


def _stand_in(part: Session, above: ChatMessage) -> ChatMessage:
    """Return what stands for `above` in the part: its root, or below it a copy of the question."""
    root = ChatMessage.objects.root_of(part)
    if above.role != Role.USER:
        return root
    return ChatMessage.objects.append(root, role=Role.USER, text=above.text, token_count=above.token_count)


def _place_below(parent: ChatMessage, top: ChatMessage) -> None:
    """Put `top` below its stand-in. Its run leaves its turn, which stays with the question, for a turn in the same columns."""
    ChatMessage.objects.filter(pk=top.pk).update(parent=parent, parent_role=parent.role)
    if top.role == Role.USER:
        return
    for turn in Turn.objects.filter(runs__message=top):
        turn.origin_id, turn.after_id = turn.columns_id, None
        turn.pk, turn.session_id, turn.user_message_id = uuid4(), parent.session_id, parent.pk
        statements.insert([turn])
        Run.objects.filter(message=top).update(turn=turn)
