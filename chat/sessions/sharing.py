"""What is shared of a session: one branch as it was, and what strangers are shown of it.

No id, no name of its owner; reasoning and tools only where the owner chose so.
"""

from collections.abc import Iterable
from typing import Any

from chat.models import ChatMessage, Role, Session, Share
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.presenters.related import related_members
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE

_OF_CALLS = ("name", "status", "arguments", "response")


def create_share(session: Session, leaf: ChatMessage | None, *, shows_details: bool) -> Share:
    """leaf: None is the tip of the current branch. Raises ApiError."""
    return Share.objects.start(_finished(leaf or session.tip()), shows_details=shows_details)


def change_share(share: Share, leaf: ChatMessage | None, **fields: Any) -> None:
    """Show another end of the branch, or more or less of it, behind the same link. Raises ApiError."""
    share.change(**fields, **({"leaf": _finished(leaf)} if leaf else {}))


def present_share(share: Share) -> JSONObject:
    """share: with its session. url: below the site's address; null where it cannot be told again."""
    return {
        "id": str(share.pk),
        "session": str(share.session_id),
        "leaf": str(share.leaf_id),
        "url": f"/shared/{share.token}/" if share.token else None,
        "is_current": share.leaf_id == share.session.leaf_id,
        "shows_details": share.shows_details,
        "created_at": isoformat_utc(share.created_at),
    }


def shared_branch(share: Share) -> JSONObject:
    """What the page behind the link shows."""
    branch = ChatMessage.objects.branch_to(share.leaf_id).replies().select_related("run")
    messages = list(branch)
    others = related_members(messages)
    return {
        "title": share.session.title,
        "shared_at": isoformat_utc(share.created_at),
        "messages": [_message(one, others[one.pk], share.shows_details) for one in messages],
    }


def _finished(leaf: ChatMessage) -> ChatMessage:
    """A message that will not change any more."""
    if leaf.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "There is nothing to share yet.", field="leaf")
    run = ChatMessage.objects.select_related("run").get(pk=leaf.pk).answered_by
    if run is not None and run.status in LIVE:
        raise ApiError("turn_in_progress", field="leaf")
    return leaf


def _message(message: ChatMessage, others: JSONObject, shows_details: bool) -> JSONObject:
    run = message.answered_by
    shape: JSONObject = {
        "role": message.role,
        "text": message.text,
        "sent_at": isoformat_utc(message.sent_at),
        "files": [file["name"] for file in others["files"]],
        "citations": [_without_ids(cited) for cited in others["citations"]],
    }
    if run:
        shape |= {"model": run.model, "error": run.error_message}
    if shows_details:
        shape |= {"reasoning": message.reasoning, "tool_calls": list(_calls(others["tool_calls"]))}
    return shape


def _without_ids(cited: JSONObject) -> JSONObject:
    return {"number": cited["number"], "title": cited["title"], "url": cited.get("url", "")}


def _calls(calls: Iterable[JSONObject]) -> Iterable[JSONObject]:
    """In their order, each followed by those made inside it."""
    for call in calls:
        yield {name: call[name] for name in _OF_CALLS}
        yield from _calls(call["children"])
