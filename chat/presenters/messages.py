"""Messages as clients see them: with their run, files, tool calls, citations and siblings; and as nodes of the tree.

Built with a constant number of queries, however long the branch.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from chat.models import ChatMessage, Role, Run
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc
from chat.presenters.related import related_members
from chat.presenters.runs import present_error
from chat.protocol.states import Status

# From a live run and the number of its tool calls that are already presented: the members that describe its text so
# far. A parameter, because only the packet log knows them, and it stands above this folder (chat/log/progress.py).
LiveMembers = Callable[[Run, int], JSONObject]


def present_messages(messages: Iterable[ChatMessage], live_members: LiveMembers) -> list[JSONObject]:
    """messages: user messages and answers, with `run` and `feedback` joined where there are many."""
    wanted = list(messages)
    siblings = _siblings(wanted)
    others = related_members(wanted)
    return [
        _message(message, others[message.pk], live_members)
        | {"siblings": siblings[message.parent_id, message.role]}
        for message in wanted
    ]


def present_node(message: ChatMessage) -> JSONObject:
    """One line of the tree; message.run joined."""
    run = message.answered_by
    shape = {
        "id": str(message.pk),
        "parent": id_or_none(message.parent_id),
        "role": message.role,
        "status": run.status if run else Status.COMPLETED,
        "latest_child": id_or_none(message.latest_child_id),
        "model": run.model if run else None,
        "sent_at": isoformat_utc(message.sent_at),
    }
    if message.role == Role.SUMMARY:
        shape["last_summarized_message"] = id_or_none(message.last_summarized_message_id)
    return shape


def _message(message: ChatMessage, others: JSONObject, live_members: LiveMembers) -> JSONObject:
    """others: its related rows, read before; the live text is presented up to the last tool call among them."""
    shape: JSONObject = {
        "id": str(message.pk),
        "parent": id_or_none(message.parent_id),
        "role": message.role,
        "text": message.text,
        "status": Status.COMPLETED,
        "sent_at": isoformat_utc(message.sent_at),
        "token_count": message.token_count,
    }
    if message.reasoning:
        shape["reasoning"] = message.reasoning
    run = message.answered_by
    if run:
        shape |= _answer(message, run, live_members, len(others["tool_calls"]))
    feedback = getattr(message, "feedback", None)
    if feedback:
        shape["feedback"] = {"is_positive": feedback.is_positive, "text": feedback.text}
    return others | shape


def _answer(message: ChatMessage, run: Run, live_members: LiveMembers, calls: int) -> JSONObject:
    shape: JSONObject = {"status": run.status, "model": run.model, "run": str(run.pk), **present_error(run)}
    if run.is_live:
        run.message = message
        shape |= live_members(run, calls)
    elif run.reasoning_ms is not None:
        shape["reasoning_ms"] = run.reasoning_ms
    return shape


def _siblings(messages: Sequence[ChatMessage]) -> dict[tuple[UUID | None, str], list[str]]:
    """Ids by (parent, role), oldest first."""
    parents = {message.parent_id for message in messages}
    rows = ChatMessage.objects.filter(parent__in=parents).order_by("sent_at", "id")
    siblings: dict[tuple[UUID | None, str], list[str]] = defaultdict(list)
    for pk, parent, role in rows.values_list("id", "parent_id", "role"):
        siblings[parent, role].append(str(pk))
    return siblings
