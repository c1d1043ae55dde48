"""Shares a branch of a session by link, changes what a link shows, and reads it page by page for its visitors."""

from typing import Final

from django.core.cache import caches
from msgspec import json

from chat.models import ChatMessage, Role, Run, Session, Share
from chat.presenters.json_values import JSONObject
from chat.presenters.shares import SharedPageAnswer, present_shared_page
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE
from chat.sessions.temporary import check_listed

# With the number of entries in settings.CACHES, the limit of what one process keeps.
MAX_CACHED_BYTES: Final = 1024 * 1024


def create_share(session: Session, leaf: ChatMessage | None, *, shows_details: bool) -> Share:
    """Share the branch to `leaf`; None: the current branch. Raises ApiError."""
    check_listed(session)
    return Share.objects.start(
        _checked_leaf(leaf or ChatMessage.objects.tip_of(session)),
        shows_details=shows_details,
    )


def change_share(share: Share, leaf: ChatMessage | None, **fields: bool) -> None:
    """Set another leaf (None: the same), with the title of now, or shows_details; the link stays. Raises ApiError."""
    shared_again = {"leaf": _checked_leaf(leaf), "title": share.session.title} if leaf else {}
    share.change(**fields, **shared_again)


def read_page(share: Share, number: int) -> JSONObject:
    """The page of this number, from 1, of the branch behind a link. share: with its session. Raises ApiError."""
    pages = share.read_pages()
    if not 1 <= number <= len(pages):
        raise ApiError("invalid_pagination")
    key = _cache_key(share, number)
    messages = caches["shared_pages"].get(key) if key else None
    if messages is None:
        messages = present_shared_page(share, pages[number - 1])
        if key and len(json.encode(messages)) <= MAX_CACHED_BYTES:
            caches["shared_pages"].set(key, messages)
    return SharedPageAnswer(
        title=share.session.title if share.title is None else share.title,
        shared_at=share.created_at,
        messages=messages,
        next=number + 1 if number < len(pages) else None,
    ).json()


def _cache_key(share: Share, number: int) -> str | None:
    """None while the last answer is being continued: all that is above it does not change any more."""
    run = Run.objects.filter(message=share.leaf_id).values_list("status", "attempt").first()
    if run and run[0] in LIVE:
        return None
    attempt = run[1] if run else 0
    return f"{share.pk}:{share.leaf_id}:{attempt}:{share.shows_details}:{number}"


def _checked_leaf(leaf: ChatMessage) -> ChatMessage:
    """Raises ApiError unless `leaf` is a message that does not change any more, nor what is above it: below an answer that
    is being written, questions may be changed and taken out."""
    if leaf.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "There is nothing to share yet.", field="leaf")
    branch = list(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
    if Run.objects.live().filter(message__in=branch).exists():
        raise ApiError("turn_in_progress", field="leaf")
    return leaf
