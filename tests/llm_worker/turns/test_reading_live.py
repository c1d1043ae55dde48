"""A message read while its answer is streamed, joined with the packets after its cursor, equals what is stored."""

from collections.abc import Mapping
from typing import Any

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.log.progress import fold, present_live_message, read_progress
from chat.models import ChatMessage, Run
from chat.protocol.states import Status
from chat.protocol.wire import (
    ApprovalRequired,
    Packet,
    Placement,
    ReasoningDelta,
    SectionEnd,
    Snapshot,
    ToolOutput,
    ToolStart,
)
from chat.transcript.citations import citation_record
from chat.transcript.questions import AddressQuestion
from llm_worker.tools.tool import InputNeeded
from tests.llm_worker.screens import entries
from tests.tool_fixtures import MOON, SEA, search_call


def loaded(run: Run) -> ChatMessage:
    return ChatMessage.objects.select_related("run", "feedback").get(pk=run.message_id)


def joined(run: Run, read: dict[str, Any]) -> dict[str, Any]:
    """What a reader shows after the packets that follow the cursor."""
    later = fold([entry for entry in entries(run) if entry.seq > read["cursor"]["seq"]])
    return {
        "text": read["text"] + later.text,
        "citations": read["citations"] + later.citations,
        "stop": later.stop_reason,
        "error": later.error and later.error.code,
    }


def test_reasoning_before_a_round_is_not_shown_behind_it_again() -> None:
    opened = Snapshot("r", 2, 0, {"text": "So", "reasoning": "First. "})
    thoughts = (ReasoningDelta("Still. "), ToolStart("c", "web_search"), ReasoningDelta("Then."))
    packets = [
        Packet("s", "r", 2, number, Placement(number), obj) for number, obj in enumerate(thoughts, start=1)
    ]
    assert fold([opened, *packets[:1]]).reasoning == "First. Still. "
    assert fold([opened, *packets]).reasoning == "Then."


def stored(run: Run, **end: object) -> dict[str, Any]:
    message = loaded(run)
    found = [citation_record(cited) for cited in message.citations.order_by("number")]
    return {"text": message.text, "citations": found, **end}


def test_a_live_message_contains_its_citations_so_far(ask, deliver, upstream, agent_session, searching):
    searching.find(MOON, SEA, query="moon")
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"reasoning": "Hm."}, {"text": "So [1]. "}, {"wait": "the look"}, {"text": "And [2]."})
    [run] = ask("Why?", session=agent_session(tools=["web_search"]))
    future = deliver(run)
    upstream.wait_for(lambda: "https://moon" in present_live_message(loaded(run))["text"])
    read = present_live_message(loaded(run))
    assert [one["number"] for one in read["citations"]] == [1]
    assert "reasoning_ms" in read
    upstream.wait_for(lambda: Run.objects.get(pk=run.pk).saved_seq >= read["cursor"]["seq"])
    row = loaded(run)
    upstream.release("the look")
    assert future.result(60)
    assert joined(run, read) == stored(run, stop="finished", error=None)
    sync_redis().flushdb()
    assert present_live_message(row)["citations"] == read["citations"]


def test_a_client_told_that_a_run_is_live_receives_its_end(ask, deliver, upstream):
    """The log is read after the row, so the run may have ended in between."""
    for last, stop, error in (
        ({"text": "and half."}, "finished", None),
        ({"eof": True}, "error", "upstream_interrupted"),
    ):
        upstream.reply({"text": "Half "}, {"wait": stop}, last, times=1)
        [run] = ask()
        future = deliver(run)
        upstream.wait_for(lambda run=run: present_live_message(loaded(run))["text"] == "Half ")
        read_row = loaded(run)
        assert read_row.run.status == Status.RUNNING
        upstream.release(stop)
        assert future.result(60)
        read = present_live_message(read_row)
        assert read["status"] == Status.RUNNING
        assert joined(run, read) == stored(run, stop=stop, error=error)


def send_away(_arguments: Mapping[str, Any]) -> str:
    raise InputNeeded(AddressQuestion("Pay first.", "https://pay.example.com/"))


@pytest.mark.parametrize(
    ("says", "missed"),
    [(None, [ToolOutput, SectionEnd]), (send_away, [ApprovalRequired])],
    ids=["ended", "asked"],
)
def test_a_client_told_that_a_call_runs_receives_what_becomes_of_it(
    ask, deliver, upstream, agent_session, scripted_tool, says, missed
):
    """The log is read after the rows of the calls, so a call may have ended or asked in between."""
    scripted_tool.says = says or scripted_tool.says
    upstream.reply({"text": "I act. "}, {"call": {"name": "act", "arguments": {"what": "wait"}}}, times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", session=agent_session(tools=["act"]))
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    row = Run.objects.for_work().get(pk=run.pk)
    calls = present_live_message(row.message)["tool_calls"]
    assert [call["status"] for call in calls] == ["running"]
    scripted_tool.released.set()
    assert future.result(60)
    read = read_progress(row, calls)
    later = [type(entry.obj) for entry in entries(run) if entry.seq > read.cursor.seq]
    assert later[: len(missed)] == missed
    assert read.shown.text == "I act. "
