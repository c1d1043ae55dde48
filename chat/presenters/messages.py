"""Messages as clients see them: with run, files, tool calls, citations and siblings, or as nodes of the tree.

The number of queries does not depend on the number of messages.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from chat.models import ChatMessage, Role, Run, run_of
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc
from chat.presenters.related import present_related
from chat.presenters.runs import present_error
from chat.protocol.states import Status

# The members of a live run's message: its text so far, and the cursor up to which that is complete. Called with the run
# and the number of its tool calls that are presented. A parameter, because the packet log has the text, and chat/log
# (progress.py) imports this folder.
PresentLiveRun = Callable[[Run, int], JSONObject]


def present_messages(messages: Iterable[ChatMessage], present_live_run: PresentLiveRun) -> list[JSONObject]:
    """messages: user messages and answers; `run` and `feedback` should be joined."""
    rows = list(messages)
    siblings = _siblings(rows)
    related = present_related(rows)
    return [
        _present_message(row, related[row.pk], present_live_run)
        | {"siblings": siblings[row.parent_id, row.role]}
        for row in rows
    ]


def present_node(message: ChatMessage) -> JSONObject:
    """A node of the tree. message: with `run` joined."""
    run = run_of(message)
    presented = {
        "id": str(message.pk),
        "parent": id_or_none(message.parent_id),
        "role": message.role,
        "status": run.status if run else Status.COMPLETED,
        "latest_child": id_or_none(message.latest_child_id),
        "model": run.model if run else None,
        "sent_at": isoformat_utc(message.sent_at),
    }
    if message.role == Role.SUMMARY:
        presented["last_summarized_message"] = id_or_none(message.last_summarized_message_id)
    return presented


def _present_message(
    message: ChatMessage, related: JSONObject, present_live_run: PresentLiveRun
) -> JSONObject:
    """related: from present_related; a live text is presented up to the last of these tool calls."""
    presented: JSONObject = {
        "id": str(message.pk),
        "parent": id_or_none(message.parent_id),
        "role": message.role,
        "text": message.text,
        "status": Status.COMPLETED,
        "sent_at": isoformat_utc(message.sent_at),
        "token_count": message.token_count,
    }
    if message.reasoning:
        presented["reasoning"] = message.reasoning
    run = run_of(message)
    if run:
        presented |= _present_answer(message, run, present_live_run, len(related["tool_calls"]))
    feedback = getattr(message, "feedback", None)
    if feedback:
        presented["feedback"] = {"is_positive": feedback.is_positive, "text": feedback.text}
    return related | presented


def _present_answer(
    message: ChatMessage, run: Run, present_live_run: PresentLiveRun, tool_calls: int
) -> JSONObject:
    presented: JSONObject = {
        "status": run.status,
        "model": run.model,
        "run": str(run.pk),
        **present_error(run),
    }
    if run.is_live:
        run.message = message
        presented |= present_live_run(run, tool_calls)
    elif run.reasoning_ms is not None:
        presented["reasoning_ms"] = run.reasoning_ms
    return presented


def _siblings(messages: Sequence[ChatMessage]) -> dict[tuple[UUID | None, str], list[str]]:
    """Ids by (parent, role), oldest first."""
    parents = {message.parent_id for message in messages}
    rows = ChatMessage.objects.filter(parent__in=parents).order_by("sent_at", "id")
    siblings: dict[tuple[UUID | None, str], list[str]] = defaultdict(list)
    for pk, parent, role in rows.values_list("id", "parent_id", "role"):
        siblings[parent, role].append(str(pk))
    return siblings
