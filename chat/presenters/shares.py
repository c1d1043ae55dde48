"""Shares as clients see them: the link for its owner, and the shared branch for all who have the link.

The shared branch has no ids and no owner; it has reasoning and tool calls only if the owner chose so.
"""

from collections.abc import Iterable
from typing import Final

from chat.models import ChatMessage, Share, run_of
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.presenters.related import present_related

_TOOL_CALL_MEMBERS: Final = ("name", "status", "arguments", "response")


def present_share(share: Share) -> JSONObject:
    """share: with its session. url: relative to the site; null if the token cannot be derived any more."""
    return {
        "id": str(share.pk),
        "session": str(share.session_id),
        "leaf": str(share.leaf_id),
        "url": f"/shared/{share.token}/" if share.token else None,
        "is_current": share.leaf_id == share.session.leaf_id,
        "shows_details": share.shows_details,
        "created_at": isoformat_utc(share.created_at),
    }


def present_shared_branch(share: Share) -> JSONObject:
    """The data of the page behind the link. share: with its session."""
    branch = ChatMessage.objects.branch_to(share.leaf_id).replies().select_related("run")
    messages = list(branch)
    related = present_related(messages)
    return {
        "title": share.session.title,
        "shared_at": isoformat_utc(share.created_at),
        "messages": [
            _present_message(message, related[message.pk], share.shows_details) for message in messages
        ],
    }


def _present_message(message: ChatMessage, related: JSONObject, shows_details: bool) -> JSONObject:
    run = run_of(message)
    presented: JSONObject = {
        "role": message.role,
        "text": message.text,
        "sent_at": isoformat_utc(message.sent_at),
        "files": [file["name"] for file in related["files"]],
        "citations": [_without_ids(citation) for citation in related["citations"]],
    }
    if run:
        presented |= {"model": run.model, "error": run.error_message}
    if shows_details:
        presented |= {
            "reasoning": message.reasoning,
            "tool_calls": list(_flat_tool_calls(related["tool_calls"])),
        }
    return presented


def _without_ids(citation: JSONObject) -> JSONObject:
    return {"number": citation["number"], "title": citation["title"], "url": citation.get("url", "")}


def _flat_tool_calls(calls: Iterable[JSONObject]) -> Iterable[JSONObject]:
    """In order, each followed by the calls made inside it."""
    for call in calls:
        yield {name: call[name] for name in _TOOL_CALL_MEMBERS}
        yield from _flat_tool_calls(call["children"])
