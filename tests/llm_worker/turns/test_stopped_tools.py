"""Stops, time-outs and failures while tools run: finished results are kept, the others have status unknown."""

import pytest
from django.db import connection, transaction

from chat.infrastructure import revocation
from chat.models import ModelConfig, ToolCall, ToolPolicy
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.transcript.tools import Annotations
from tests.llm_worker.outcomes import ended, stopped
from tests.llm_worker.screens import entries, live, rebuilt

HANG = {"call": {"name": "act", "arguments": {"what": "wait"}}}
ACT = {"call": {"name": "act", "arguments": {"what": "this"}}}
NOW = {"call": {"name": "current_time", "arguments": {}}}
RESEARCH = {"call": {"name": "research_agent", "arguments": {"question": "Who pulls the sea?"}}}
SEARCH = {"call": {"name": "web_search", "arguments": {"query": "sea"}}}


def statuses(run) -> dict[str, str]:
    return dict(ToolCall.objects.filter(run=run).values_list("name", "status"))


def roles(request) -> str:
    return " ".join(message["role"][0] for message in request.messages[1:])


def assert_calls_and_responses_match(request) -> None:
    called = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
    assert called == answered


def wait_for_status(upstream, run, name: str, status: str) -> None:
    upstream.wait_for(lambda: ToolCall.objects.filter(run=run, name=name, status=status).exists())


def ask_again(ask, deliver, upstream, session):
    """The next turn; its request."""
    upstream.reply({"text": "Well."})
    [run] = ask("And now?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert_calls_and_responses_match(upstream.requests[-1])
    return upstream.requests[-1]


@pytest.fixture
def session(agent_session, scripted_tool):
    return agent_session(tools=["act", "current_time", "research_agent", "web_search"])


def test_a_stop_while_a_tool_runs(ask, deliver, upstream, session, scripted_tool):
    upstream.reply({"reasoning": "Hm."}, {"text": "I act. "}, HANG, times=1)
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    stop_run(run.pk)
    assert stopped(upstream, future, run).text == "I act. "
    assert scripted_tool.left == 1
    call = ToolCall.objects.get(run=run)
    assert (call.status, call.response, call.reasoning) == ("unknown", "", "Hm.")
    kinds = [packet.obj.__struct_config__.tag for packet in entries(run)]
    assert kinds[-2:] == ["section_end", "stop"]
    assert live(run) == rebuilt(run)
    assert roles(ask_again(ask, deliver, upstream, session)) == "u a u"


def test_a_stop_during_parallel_tools_keeps_finished_results(ask, deliver, upstream, session, scripted_tool):
    upstream.reply({"text": "Both. "}, HANG, NOW, times=1)
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_for_status(upstream, run, "current_time", "completed")
    stop_run(run.pk)
    stopped(upstream, future, run)
    assert statuses(run) == {"act": "unknown", "current_time": "completed"}
    assert live(run) == rebuilt(run)
    request = ask_again(ask, deliver, upstream, session)
    assert roles(request) == "u a t u"
    assert [call["function"]["name"] for call in request.messages[2]["tool_calls"]] == ["current_time"]
    assert request.messages[2]["content"] == "Both. "


def test_a_stop_while_a_tool_of_an_agent_runs(ask, deliver, upstream, session, searching):
    searching.answer(hang=True)
    upstream.reply({"text": "I ask. "}, RESEARCH, times=1)
    upstream.reply({"reasoning": "Inside."}, {"text": "I look. "}, SEARCH, contains="Who pulls", times=1)
    [run] = ask("Go", session=session)
    future = deliver(run)
    searching.wait_for(lambda: searching.requests)
    stop_run(run.pk)
    assert stopped(upstream, future, run).text == "I ask. "
    searching.wait_for(lambda: searching.requests[0].left)
    assert statuses(run) == {"research_agent": "unknown", "web_search": "unknown"}
    assert live(run) == rebuilt(run)
    assert roles(ask_again(ask, deliver, upstream, session)) == "u a u"


def test_a_stop_while_an_agent_writes_its_report(ask, deliver, upstream, session, searching):
    upstream.reply({"text": "I ask. "}, RESEARCH, times=1)
    upstream.reply({"text": "I look. "}, SEARCH, contains="Who pulls", times=1)
    upstream.reply({"reasoning": "So."}, {"text": "The report is"}, {"hang": True}, contains="Who pulls")
    [run] = ask("Go", session=session)
    future = deliver(run)

    def reports() -> bool:
        return any(packet.obj.__struct_config__.tag == "report_delta" and packet.obj.text.startswith("The report")
                   for packet in entries(run))  # fmt: skip

    upstream.wait_for(reports)
    stop_run(run.pk)
    assert stopped(upstream, future, run).text == "I ask. "
    assert statuses(run) == {"research_agent": "unknown", "web_search": "completed"}
    screen = live(run)
    run.refresh_from_db()
    assert screen == rebuilt(run)


def test_a_tool_that_times_out_is_cancelled_and_the_loop_continues(
    ask, deliver, upstream, session, scripted_tool
):
    scripted_tool.time_limit_s, scripted_tool.hangs = 0.05, 1
    upstream.reply(ACT, times=1)
    upstream.reply({"text": "Then not."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Then not.")
    call = ToolCall.objects.get(run=run)
    assert (call.status, call.response) == ("failed", "act did not finish within 0.05 seconds.")
    assert scripted_tool.left == 1
    assert live(run) == rebuilt(run)


def test_a_tool_that_is_not_idempotent_has_status_unknown_after_a_time_out(
    ask, deliver, upstream, session, scripted_tool
):
    scripted_tool.time_limit_s, scripted_tool.hangs = 0.05, 1
    scripted_tool.annotations = Annotations()
    ToolPolicy.objects.create(name="act", approval="never")
    upstream.reply(ACT, times=1)
    upstream.reply({"text": "Perhaps."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Perhaps.")
    call = ToolCall.objects.get(run=run)
    assert call.status == "unknown"
    assert "may or may not" in call.response
    assert live(run) == rebuilt(run)


def test_a_tool_that_raises_gets_a_one_sentence_response_without_details(
    ask, deliver, upstream, session, scripted_tool, caplog
):
    def breaks(_arguments):
        raise RuntimeError("password=hunter2")

    scripted_tool.says = breaks
    upstream.reply(ACT, NOW, times=1)
    upstream.reply({"text": "Then not."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Then not.")
    assert statuses(run) == {"act": "failed", "current_time": "completed"}
    assert ToolCall.objects.get(run=run, name="act").response == "act failed because of an internal error."
    assert "tool act broke" in caplog.text
    assert live(run) == rebuilt(run)


def test_three_tools_run_concurrently(ask, deliver, upstream, session, scripted_tool):
    upstream.reply(HANG, HANG, NOW, times=1)
    upstream.reply({"text": "All."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: len(scripted_tool.ran) == 2)
    wait_for_status(upstream, run, "current_time", "completed")
    scripted_tool.released.set()
    future.result(60)
    ended(run, Status.COMPLETED, text="All.")
    assert [call["function"]["name"] for call in upstream.requests[1].messages[2]["tool_calls"]] == [
        "act",
        "act",
        "current_time",
    ]
    assert_calls_and_responses_match(upstream.requests[1])
    run.refresh_from_db()
    packets = [packet for packet in entries(run) if packet.placement.turn_index == 0]
    counts = [p.obj.count for p in packets if p.obj.__struct_config__.tag == "top_level_branching"]
    assert counts == [3]
    for tab in range(3):
        kinds = [p.obj.__struct_config__.tag for p in packets if p.placement.tab_index == tab]
        assert [kind for kind in kinds if kind in ("tool_start", "tool_output", "section_end")] == [
            "tool_start",
            "tool_output",
            "section_end",
        ]
    assert live(run) == rebuilt(run)


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        pytest.param([{"finish": "stop"}], "empty_response", id="nothing"),
        pytest.param([{"text": "  \n"}], "empty_response", id="blank"),
        pytest.param([{"finish": "content_filter"}], "model_refusal", id="filtered"),
        pytest.param([{"refusal": "No."}], "model_refusal", id="refused"),
    ],
)
def test_no_answer_after_tools_is_an_error(ask, deliver, upstream, session, steps, code):
    upstream.reply({"text": "Let me see. "}, NOW, times=1)
    upstream.reply(*steps)
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.FAILED, code=code)
    assert run.message.text.startswith("Let me see. ")
    assert statuses(run) == {"current_time": "completed"}
    assert live(run) == rebuilt(run)


@pytest.mark.parametrize(
    ("thought", "sent_back"),
    [
        pytest.param(
            {"reasoning": "Hm.", "field": "reasoning_content"},
            {"reasoning_content": "Hm."},
            id="reasoning_content",
        ),
        pytest.param({"reasoning": "Hm.", "field": "reasoning"}, {"reasoning": "Hm."}, id="reasoning"),
        pytest.param({"text": "<think>Hm.</think>"}, {}, id="inline"),
    ],
)
def test_reasoning_is_stored_with_its_round_and_sent_back_under_the_name_it_came_by(
    ask, deliver, upstream, session, thought, sent_back
):
    upstream.reply(thought, {"text": "So: "}, NOW, times=1)
    upstream.reply(thought, {"text": "Late."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    seen = ended(run, Status.COMPLETED, text="So: \n\nLate.")
    assert seen.reasoning == "Hm."
    call = ToolCall.objects.get(run=run)
    assert (call.reasoning, call.text_before) == ("Hm.", "So: ")
    [called] = [message for message in upstream.requests[1].messages if "tool_calls" in message]
    assert {name: value for name, value in called.items() if value == "Hm."} == sent_back
    assert str(upstream.requests[1].messages).count("Hm.") == len(sent_back)
    assert live(run) == rebuilt(run)


def test_an_oversize_response_is_truncated_in_the_request_and_stored_whole(
    ask, deliver, upstream, session, scripted_tool
):
    ModelConfig.objects.create(
        name="small", base_url=upstream.base_url, context_window=8000, max_output_tokens=1000
    )
    scripted_tool.says = lambda _: "begin " + "word " * 50_000 + "end"
    upstream.reply(ACT, times=2)
    upstream.reply({"text": "Long."})
    [run] = ask("Go", "small", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Long.")
    first, second = (request.messages for request in upstream.requests[1:])
    assert second[: len(first)] == first
    for response in (message["content"] for message in second if message["role"] == "tool"):
        assert response.startswith("begin ")
        assert response.endswith("end")
        assert "tokens left out" in response
    assert all(len(call.response) > 200_000 for call in ToolCall.objects.filter(run=run))
    assert live(run) == rebuilt(run)


def test_calls_in_the_last_cycle_are_not_run(ask, deliver, upstream, session, settings):
    settings.MAX_LLM_CYCLES = 2
    upstream.reply(NOW)
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.FAILED, code="empty_response")
    assert len(upstream.requests) == 2
    assert ToolCall.objects.filter(run=run).count() == 1
    assert live(run) == rebuilt(run)


def blocked(upstream) -> None:
    """Wait until a statement waits for a lock."""

    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return cursor.fetchone()[0] > 0

    upstream.wait_for(waits)


def test_a_stop_while_a_round_is_stored_shows_what_is_stored(
    ask, deliver, runtime, upstream, session, scripted_tool
):
    upstream.reply({"reasoning": "Hm."}, {"text": "I act. "}, {"wait": "the lock"}, ACT)
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for_requests()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE chat_toolcall IN ACCESS EXCLUSIVE MODE")
        upstream.release("the lock")
        blocked(upstream)
        revocation.revoke(run.turn.session_id, run.pk)
        upstream.wait_for(lambda: runtime._attempts[str(run.pk)]._cancel_reason)
    assert stopped(upstream, future, run).text == "I act. "
    assert scripted_tool.ran == []
    assert ToolCall.objects.get(run=run).status == "unknown"
    assert live(run) == rebuilt(run)


def test_a_stop_while_an_outcome_is_stored_shows_the_outcome(
    ask, deliver, runtime, upstream, session, scripted_tool
):
    upstream.reply({"text": "I act. "}, HANG)
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE chat_toolcall IN ACCESS EXCLUSIVE MODE")
        scripted_tool.released.set()
        blocked(upstream)
        revocation.revoke(run.turn.session_id, run.pk)
        upstream.wait_for(lambda: runtime._attempts[str(run.pk)]._cancel_reason)
    stopped(upstream, future, run)
    assert ToolCall.objects.get(run=run).status == "completed"
    assert live(run) == rebuilt(run)


def test_each_model_of_a_turn_has_its_own_calls(ask, deliver, upstream, session):
    upstream.reply({"text": "One. "}, NOW, model="alpha", times=1)
    upstream.reply(RESEARCH, contains="Go", model="beta", times=1)
    upstream.reply({"text": "A report."}, contains="Who pulls")
    upstream.reply({"text": "Done."})
    runs = ask("Go", "alpha", "beta", session=session)
    for future in [deliver(run) for run in runs]:
        future.result(60)
    ended(runs[0], Status.COMPLETED, text="One. \n\nDone.")
    ended(runs[1], Status.COMPLETED, text="Done.")
    for run in runs:
        assert live(run) == rebuilt(run)
        assert {packet.placement.model_index for packet in entries(run)} == {run.model_index}
