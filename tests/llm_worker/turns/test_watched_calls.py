"""Calls that readers see while the model writes them: what is shown when, and what an interruption leaves."""

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.log.progress import present_live_message
from chat.models import ModelConfig, Run, ToolCall
from chat.protocol.states import Status
from chat.protocol.wire import Snapshot, ToolArguments, ToolArgumentsDelta, ToolStart, TopLevelBranching
from chat.runs.cancellation import stop_run
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended, stopped
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import streamed_call, tool_responses

BEGINNING = ['{"what": "go', " far"]
WHOLE = [*BEGINNING, {"wait": "the rest"}, ' away"}']


@pytest.fixture
def session(agent_session, scripted_tool, searching):
    return agent_session(tools=["act", "current_time", "web_search"])


def written(run, call_id="call_1") -> str:
    """The arguments of the call as readers have seen them so far."""
    return "".join(
        entry.obj.text for entry in entries(run)
        if isinstance(entry.obj, ToolArgumentsDelta) and entry.obj.tool_call_id == call_id
    )  # fmt: skip


def wait_until_written(upstream, run, text='{"what": "go far') -> None:
    upstream.wait_for(lambda: written(run) == text)


def objs(run, *kinds):
    return [entry.obj for entry in entries(run) if isinstance(entry.obj, kinds)]


def read(run):
    """The answer as the REST API returns it: text, cursor, calls."""
    shape = present_live_message(Run.objects.for_work().get(pk=run.pk).message)
    calls = [(call["tool_call_id"], call["status"], call["arguments"]) for call in shape["tool_calls"]]
    return shape["text"], shape["cursor"]["seq"], calls


def start_of_call(run) -> int:
    return next(entry.seq for entry in entries(run) if isinstance(entry.obj, ToolStart))


def test_a_call_is_shown_while_the_model_writes_it_and_stored_only_when_complete(
    ask, deliver, upstream, session, scripted_tool
):
    upstream.reply({"reasoning": "Hm."}, {"text": "I act. "}, *streamed_call("act", *WHOLE), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    assert upstream.requests[0].ended is None
    assert (scripted_tool.ran, ToolCall.objects.filter(run=run).count()) == ([], 0)
    text, seq, calls = read(run)
    assert (text, calls) == ("I act. ", [])
    assert seq < start_of_call(run)
    upstream.release("the rest")
    future.result(60)
    ended(run, Status.COMPLETED, text="I act. \n\nDone.")
    assert scripted_tool.ran == [{"what": "go far away"}]
    assert written(run) == '{"what": "go far away"}'
    assert objs(run, ToolArguments) == [ToolArguments("call_1", {"what": "go far away"})]
    assert live(run) == rebuilt(run)


def test_without_the_log_a_reader_joins_before_the_call(ask, deliver, upstream, session):
    upstream.reply({"text": "I act. "}, {"wait": "the checkpoint"}, *streamed_call("act", *WHOLE), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: entries(run) and Run.objects.get(pk=run.pk).saved_seq)
    upstream.release("the checkpoint")
    wait_until_written(upstream, run)
    start = start_of_call(run)
    sync_redis().flushdb()
    text, seq, calls = read(run)
    assert (text, calls) == ("I act. ", [])
    assert 0 < seq < start
    upstream.release("the rest")
    future.result(60)
    ended(run, Status.COMPLETED, text="I act. \n\nDone.")
    assert live(run) == rebuilt(run)


@pytest.mark.parametrize("how", ["stopped", "failed"])
def test_an_interrupted_call_never_runs_and_its_partial_arguments_are_stored(
    ask, deliver, upstream, session, scripted_tool, how
):
    upstream.reply(
        {"reasoning": "Hm."}, {"text": "I act. "}, *streamed_call("act", *WHOLE, {"eof": True}), times=1
    )
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    if how == "stopped":
        stop_run(run.pk)
        assert stopped(upstream, future, run).text == "I act. "
    else:
        upstream.release("the rest")
        future.result(60)
        ended(run, Status.FAILED, text="I act. ", code="upstream_interrupted")
    call = ToolCall.objects.get(run=run)
    partial = "go far" if how == "stopped" else "go far away"
    assert (call.status, call.response, call.arguments) == ("unknown", "", {"what": partial})
    assert (call.text_before, call.reasoning, run.message.reasoning) == ("I act. ", "Hm.", "")
    assert objs(run, ToolArguments) == [ToolArguments("call_1", {"what": partial})]
    assert live(run) == rebuilt(run)
    assert scripted_tool.ran == []
    upstream.rules.clear()
    upstream.reply({"text": "Well."})
    [again] = ask("And now?", session=session)
    deliver(again).result(60)
    assert [message["role"][0] for message in upstream.requests[-1].messages] == ["s", "u", "a", "u"]


@pytest.mark.parametrize("model", ["plain", "prefilling"])
def test_a_worker_that_drains_during_a_call_stores_nothing_of_it(
    ask, deliver, runtime, upstream, session, scripted_tool, model
):
    ModelConfig.objects.create(name=model, base_url=upstream.base_url, supports_prefill=model == "prefilling")
    upstream.reply({"text": "I act. "}, *streamed_call("act", *WHOLE), times=1)
    repeated = [] if model == "prefilling" else [{"text": "I act. "}]
    upstream.reply(*repeated, *streamed_call("act", '{"what": "stay"}', call_id="call_2"), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", model, session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    runtime.drain(0)
    assert future.result(60)
    another_worker_does([run])
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.message.text) == (Status.COMPLETED, "I act. \n\nDone.")
    assert scripted_tool.ran == [{"what": "stay"}]
    assert [call.tool_call_id for call in ToolCall.objects.filter(run=run)] == ["call_2"]
    first = entries(run)[0]
    if model == "prefilling":
        assert isinstance(first, Snapshot)
        assert (first.message["text"], first.message["tool_calls"]) == ("I act. ", [])
    else:
        assert live(run) == rebuilt(run)


def test_parallel_calls_are_announced_before_the_second_call_is_shown(
    ask, deliver, upstream, session, scripted_tool
):
    second = streamed_call("act", '{"what"', {"wait": "the look"}, ': "two"}', call_id="call_2", index=1)
    upstream.reply(
        *streamed_call("act", *WHOLE),
        *second,
        *streamed_call("current_time", "{}", call_id="call_3", index=2),
        times=1,
    )
    upstream.reply({"text": "All."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    upstream.release("the rest")
    wait_until_written(upstream, run, '{"what": "go far away"}')
    assert len(objs(run, ToolStart, TopLevelBranching)) == 1
    upstream.release("the look")
    future.result(60)
    ended(run, Status.COMPLETED, text="All.")
    assert [getattr(obj, "tool_call_id", obj.__class__.__name__) for obj in objs(run, ToolStart, TopLevelBranching)] == [
        "call_1", "TopLevelBranching", "call_2", "call_3",
    ]  # fmt: skip
    assert [obj.tool_call_id for obj in objs(run, ToolArguments)] == ["call_1", "call_2", "call_3"]
    places = {entry.placement.turn_index for entry in entries(run) if isinstance(entry.obj, ToolStart)}
    assert len(places) == 1
    assert sorted(one["what"] for one in scripted_tool.ran) == ["go far away", "two"]
    assert live(run) == rebuilt(run)


def test_text_written_during_a_call_is_placed_after_its_round(ask, deliver, upstream, session):
    late = [{"wait": "the rest"}, {"text": "And so. "}, {"reasoning": "Late."}]
    upstream.reply(
        {"text": "I act. "}, *streamed_call("act", *BEGINNING, *late, ' away"}'), {"text": "On. "}, times=1
    )
    upstream.reply({"text": "Done."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    upstream.release("the rest")
    future.result(60)
    ended(run, Status.COMPLETED, text="I act. \n\nAnd so. On. \n\nDone.")
    assert ToolCall.objects.get(run=run).text_before == "I act. "
    assert run.message.reasoning == "Late."


def test_text_written_after_an_interrupted_call_is_stored_after_it(ask, deliver, upstream, session):
    late = [{"wait": "the rest"}, {"text": "And so."}, {"eof": True}]
    upstream.reply({"text": "I act. "}, *streamed_call("act", *BEGINNING), *late)
    [run] = ask("Go", session=session)
    future = deliver(run)
    wait_until_written(upstream, run)
    upstream.release("the rest")
    future.result(60)
    ended(run, Status.FAILED, code="upstream_interrupted")
    assert run.message.text == "I act. \n\nAnd so."
    assert live(run) == rebuilt(run)


@pytest.mark.parametrize(
    ("name", "pieces", "status"),
    [
        pytest.param(
            "web_search", ['{"query": ', '"moon"}'], "completed", id="a tool whose calls may be merged"
        ),
        pytest.param("fly", ['{"to": ', '"moon"}'], "failed", id="an unknown tool"),
        pytest.param("act", ['"{\\"what\\": ', '\\"moon\\"}"'], "completed", id="JSON in JSON"),
    ],
)
def test_calls_that_cannot_be_previewed_are_shown_when_complete(
    ask, deliver, upstream, session, name, pieces, status
):
    first, rest = pieces
    upstream.reply(*streamed_call(name, first, {"wait": "the look"}, rest), {"wait": "the end"}, times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: upstream.requests and upstream.requests[0].chunks >= 2)
    upstream.release("the look")
    upstream.wait_for(lambda: upstream.requests[0].chunks >= 3)
    assert objs(run, ToolStart) == []
    upstream.release("the end")
    future.result(60)
    ended(run, Status.COMPLETED, text="Well.")
    assert ToolCall.objects.get(run=run).status == status
    assert live(run) == rebuilt(run)


def test_invalid_arguments_of_a_shown_call_get_an_error_response(ask, deliver, upstream, session):
    upstream.reply(*streamed_call("act", '{"what": ', {"pause_s": 0.05}, "oops"), times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    assert (written(run), objs(run, ToolArguments)) == ('{"what": oops', [ToolArguments("call_1", {})])
    assert "JSON" in tool_responses(upstream.requests[1])[0]
    assert live(run) == rebuilt(run)


def test_long_arguments_are_shown_in_pieces_and_referenced_by_row(ask, deliver, upstream, session):
    pieces = ['{"what": "', "x" * 6_000, {"pause_s": 0.05}, "y" * 30_000, '"}']
    upstream.reply(*streamed_call("act", *pieces), times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    call = ToolCall.objects.get(run=run)
    assert written(run) == "".join(piece for piece in pieces if isinstance(piece, str))
    assert objs(run, ToolArguments) == [ToolArguments("call_1", {}, ref=str(call.pk))]
    assert max(len(obj.text) for obj in objs(run, ToolArgumentsDelta)) <= 10_000
    assert live(run) == rebuilt(run)
