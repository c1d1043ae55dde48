"""Messages as clients see them: with run, files, tool calls, citations and siblings, or as nodes of the tree.

The number of queries does not depend on the number of messages.
"""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from chat.models import ChatMessage, EditedAnswer, Role, Run, RunSetup, Turn, run_of
from chat.models.run_spending import run_limits
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc
from chat.presenters.related import present_related
from chat.presenters.runs import present_cut, present_error
from chat.presenters.siblings import Siblings
from chat.protocol.states import CONTINUABLE, Status

# The members of a live run's message: its text so far, and the cursor up to which that is complete. Called with the run
# and the number of its tool calls that are presented. A parameter, because the packet log has the text, and chat/log
# (progress.py) imports this folder.
PresentLiveRun = Callable[[Run, int], JSONObject]


def present_branch(messages: Iterable[ChatMessage], present_live_run: PresentLiveRun) -> list[JSONObject]:
    """present_messages, and with each answer of a turn of several models the answers in its other columns."""
    rows = list(messages)
    siblings = Siblings.read(rows)
    alongside = {row.pk: siblings.alongside(row.pk) for row in rows}
    others = ChatMessage.objects.select_related("run", "feedback").filter(
        pk__in=[pk for pks in alongside.values() for pk in pks]
    )
    shown = [*rows, *others] if any(alongside.values()) else rows
    presented = dict(zip((row.pk for row in shown), _present(shown, siblings, present_live_run), strict=True))
    return [
        presented[row.pk]
        | (
            {"alongside": [presented[pk] for pk in alongside[row.pk] if pk in presented]}
            if alongside[row.pk]
            else {}
        )
        for row in rows
    ]


def present_messages(messages: Iterable[ChatMessage], present_live_run: PresentLiveRun) -> list[JSONObject]:
    """messages: user messages and answers; `run` and `feedback` should be joined."""
    rows = list(messages)
    return _present(rows, Siblings.read(rows), present_live_run)


def _present(
    rows: Sequence[ChatMessage], siblings: Siblings, present_live_run: PresentLiveRun
) -> list[JSONObject]:
    related = present_related(rows)
    beside = _sent_beside([row.pk for row in rows if row.role == Role.USER])
    edited = EditedAnswer.objects.by_message(rows)
    agents = RunSetup.objects.agents_of(rows)
    return [
        _present_message(row, related[row.pk], present_live_run)
        | ({"agent": agents[row.pk]} if row.pk in agents else {})
        | beside.get(row.pk, {})
        | _present_edited(edited.get(row.pk))
        | siblings.present(row)
        for row in rows
    ]


def present_nodes(messages: Iterable[ChatMessage]) -> list[JSONObject]:
    """The nodes of a tree. messages: with `run` joined."""
    rows = list(messages)
    edited = EditedAnswer.objects.by_message(rows)
    return [_present_node(row) | _present_edited(edited.get(row.pk)) for row in rows]


def _present_edited(edited: EditedAnswer | None) -> JSONObject:
    """The members of an answer whose text the user wrote."""
    if edited is None:
        return {}
    model = {"model": edited.model} if edited.model else {}
    return {**model, "edited_from": id_or_none(edited.original_id)}


def _present_node(message: ChatMessage) -> JSONObject:
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
        return presented
    if run.reasoning_ms is not None:
        presented["reasoning_ms"] = run.reasoning_ms
    if run.told_finish.is_cut_at_limit:
        presented["is_continuable"] = _is_continuable(message, run)
    return presented | present_cut(run)


def _is_continuable(message: ChatMessage, run: Run) -> bool:
    """As GO_ON in chat/models/sql/runs.py decides about an answer that was cut at its output limit."""
    is_last = message.latest_child_id is None
    allows_more = run_limits().allow_more(run.spending, len(message.text))
    return (
        is_last
        and allows_more
        and message.text != ""
        and run.model_config_id is not None
        and run.status in CONTINUABLE
    )


def _sent_beside(questions: Sequence[UUID]) -> dict[UUID, JSONObject]:
    """The members `additional_context`, `knowledge_bases` and `earlier_knowledge_bases` of the questions that were sent with them."""
    given = Turn.objects.sent_beside_each(questions) if questions else {}
    shown: dict[UUID, JSONObject] = {}
    for question, (context, bases, earlier) in given.items():
        shown[question] = {"additional_context": context} if context else {}
        shown[question] |= {"knowledge_bases": [str(base) for base in bases]} if bases else {}
        shown[question] |= {"earlier_knowledge_bases": [str(base) for base in earlier]} if earlier else {}
    return shown
