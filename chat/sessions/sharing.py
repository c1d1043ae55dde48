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

# Largest page that is cached. With the number of entries in settings.CACHES it limits the memory of one process.
MAX_CACHED_BYTES: Final = 1024 * 1024


def create_share(session: Session, leaf: ChatMessage | None, *, shows_details: bool) -> Share:
    """Share the branch that ends in `leaf`; None means the current branch. Raises ApiError."""
    check_listed(session)
    return Share.objects.start(
        _checked_leaf(leaf or ChatMessage.objects.tip_of(session)),
        shows_details=shows_details,
    )


def change_share(share: Share, leaf: ChatMessage | None, **fields: bool) -> None:
    """Set shows_details, or another leaf with the current title; None keeps both. The link stays. Raises ApiError."""
    shared_again = {"leaf": _checked_leaf(leaf), "title": share.session.title} if leaf else {}
    share.change(**fields, **shared_again)


def read_page(share: Share, number: int) -> JSONObject:
    """Return page `number`, counted from 1, of a shared branch. share: with its session loaded. Raises ApiError."""
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
    """Return the cache key; None while the last answer is being continued. Messages above it no longer change."""
    run = Run.objects.filter(message=share.leaf_id).values_list("status", "attempt").first()
    if run and run[0] in LIVE:
        return None
    attempt = run[1] if run else 0
    return f"{share.pk}:{share.leaf_id}:{attempt}:{share.shows_details}:{number}"


def _checked_leaf(leaf: ChatMessage) -> ChatMessage:
    """Return `leaf` if neither it nor the messages above it change any more; raise ApiError otherwise.
    Questions below an answer in progress may still be changed or withdrawn."""
    if leaf.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "There is nothing to share yet.", field="leaf")
    branch = list(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
    if Run.objects.live().filter(message__in=branch).exists():
        raise ApiError("turn_in_progress", field="leaf")
    return leaf
