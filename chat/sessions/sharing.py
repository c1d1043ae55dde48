"""Shares a branch of a session by link, changes what a link shows, reads it page by page for its visitors, and copies it
into a visitor's account."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.core.cache import caches
from msgspec import json

from chat.models import ChatMessage, Role, Run, Session, Share
from chat.models.share import PAGE_BYTES
from chat.presenters.json_values import JSONObject
from chat.presenters.shares import SharedMessageAnswer, SharedPageAnswer, present_shared_page
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE
from chat.sessions.portable import format as f
from chat.sessions.portable.importer import store_session
from chat.sessions.temporary import check_listed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# The error code of a failed answer in a copy: a link shows the message, not the code.
COPIED_FAILURE: Final = "copied_failure"
# Largest page that is cached. With the number of entries in settings.CACHES it limits the memory of one process.
MAX_CACHED_BYTES: Final = 1024 * 1024


def create_share(
    session: Session, leaf: ChatMessage | None, *, shows_details: bool, expires_at: datetime | None = None
) -> Share:
    """Share the branch that ends in `leaf`; None means the current branch. Raises ApiError."""
    check_listed(session)
    return Share.objects.start(
        _checked_leaf(leaf or ChatMessage.objects.tip_of(session)),
        shows_details=shows_details,
        expires_at=expires_at,
    )


def change_share(share: Share, leaf: ChatMessage | None, **fields: bool | datetime | None) -> None:
    """Set shows_details, expires_at, or another leaf with the current title; None keeps both. The link stays. Raises ApiError."""
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
        title=share.shown_title,
        shared_at=share.created_at,
        messages=messages,
        next=number + 1 if number < len(pages) else None,
    ).json()


def copy_share(owner: "User", share: Share) -> Session:
    """Store what the link shows as a new session of `owner`: texts, reasoning and citations, files by their names, and
    which model wrote what. Tool calls are left out: the link shows them shortened. Raises ApiError."""
    pages = share.read_pages()
    # Each page may be as large as a part of a file that is imported.
    if sum(page.messages for page in pages) > f.MAX_PATH or len(pages) * PAGE_BYTES > f.MAX_BYTES:
        raise ApiError("body_too_large", limit=f.MAX_BYTES)
    messages = [message for page in pages for message in present_shared_page(share, page)]
    sent_at = messages[0].sent_at if messages else share.created_at
    root = f.Message(id=0, role="root", sent_at=sent_at, latest_child=1 if messages else None)
    copies = [_copied(message, number, len(messages)) for number, message in enumerate(messages, 1)]
    return store_session(
        owner,
        f.Portable(
            format=f.NAME,
            version=f.ADDITIONS_VERSION,
            title=share.shown_title,
            messages=[root, *copies],
        ),
        {},
    )


def _copied(message: SharedMessageAnswer, number: int, last: int) -> f.Message:
    """Return the message as a file has it. number, last: its place in the branch, and that of its end, from 1."""
    model = message.model or ""
    is_of_model = bool(model) and not message.is_edited
    run = f.Run(
        model=model,
        created_at=message.sent_at,
        status="failed" if message.error else "completed",
        error=f.Error(COPIED_FAILURE, message.error) if message.error else None,
        finish_reason=message.finish_reason or "",
        finish_tokens=message.finish_tokens or None,
    )
    return f.Message(
        id=number,
        role=message.role,  # type: ignore[arg-type]
        parent=number - 1,
        sent_at=message.sent_at,
        text=message.text,
        reasoning=message.reasoning or "",
        latest_child=number + 1 if number < last else None,
        files=[f.File(name=name) for name in message.files],
        citations=[
            f.Citation(citation.number, f"shared:{citation.number}", citation.title, citation.url)
            for citation in message.citations
        ],
        run=run if is_of_model else None,
        edited=f.Edited(model=model) if message.is_edited else None,
    )


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
