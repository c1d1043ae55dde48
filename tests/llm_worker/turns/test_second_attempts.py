"""A run with tools is handed over in each of its phases: finished calls stay, unsafe calls do not run twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from chat.infrastructure import revocation
from chat.models import CitedDocument, ModelConfig, ToolCall, ToolPolicy
from chat.protocol.states import Status
from chat.transcript.tools import Annotations
from llm_worker.attempt.runtime import Runtime
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import wait_for_text
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import MOON, RESEARCH, SEA, SUN, document_numbers, search_call, tool_responses

HANG = {"call": {"name": "act", "arguments": {"what": "wait"}}}
MODELS = pytest.mark.parametrize("model", ["plain", "prefilling"])


@pytest.fixture
def session(agent_session, searching, scripted_tool, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    ToolPolicy.objects.create(name="act", approval="never")
    ModelConfig.objects.create(name="prefilling", base_url=upstream.base_url, supports_prefill=True)
    searching.find(MOON, SUN, query="moon")
    searching.find(SEA, query="sea")
    return agent_session(tools=["act", "current_time", "research_agent", "web_search"])


@pytest.fixture
def handed_over(ask, deliver, runtime, session):
    """Ask the model, wait for the moment, and let another worker go on. Returns the run, ended."""

    def handed_over(model, when, before_the_next=lambda: None):
        [run] = ask("Why?", model, session=session)
        future = deliver(run)
        when(run)
        runtime.drain(0)
        assert future.result(60)
        before_the_next()
        another_worker_does([run])
        run.refresh_from_db()
        run.message.refresh_from_db()
        assert (run.status, run.attempt) == (Status.COMPLETED, 2), run.error_code
        return run

    return handed_over


def wait_for(upstream, run, text: str) -> None:
    wait_for_text(upstream, run, len(text))


def assert_screen_is_kept(run, model) -> None:
    """The second attempt's packets, and what its snapshot says, are what is stored."""
    lines = entries(run)
    if model == "plain":
        assert live(run) == rebuilt(run)
    shown = [] if model == "plain" else [lines[0].message["text"]]
    shown += [
        line.obj.text for line in lines if line.__class__.__name__ == "Packet"
        and line.obj.__struct_config__.tag == "message_delta"
    ]  # fmt: skip
    assert "".join(shown) == run.message.text


def cited(run) -> list[int]:
    return list(CitedDocument.objects.filter(message=run.message_id).values_list("number", flat=True))


@MODELS
def test_a_hand_over_during_the_first_text(upstream, handed_over, searching, model):
    upstream.reply({"text": "Let me look. "}, {"hang": True}, times=1)
    if model == "plain":
        upstream.reply({"text": "Let me look. "}, search_call("moon"), times=1)
    else:
        upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "The moon [1]."})
    run = handed_over(model, lambda run: wait_for(upstream, run, "Let me look. "))
    assert run.message.text == "Let me look. \n\nThe moon [[1]](https://moon.example/)."
    assert ToolCall.objects.get(run=run).text_before == "Let me look. "
    assert searching.queries == ["moon"]
    assert cited(run) == [1]
    assert_screen_is_kept(run, model)


@MODELS
def test_a_hand_over_during_the_second_inference_does_not_repeat_finished_calls(
    upstream, handed_over, searching, model
):
    upstream.reply({"reasoning": "Hm."}, {"text": "Let me look. "}, search_call("moon"), times=1)
    upstream.reply({"text": "By [2] "}, {"hang": True}, times=1)
    if model == "plain":
        upstream.reply({"text": "By [2] "}, {"text": "and [1]."})
    else:
        upstream.reply({"text": "and [1]."})
    run = handed_over(
        model, lambda run: wait_for(upstream, run, "Let me look. \n\nBy [[2]](https://sun.example/)")
    )
    assert run.message.text == (
        "Let me look. \n\nBy [[2]](https://sun.example/) and [[1]](https://moon.example/)."
    )
    assert searching.queries == ["moon"]
    assert cited(run) == [1, 2]
    assert (
        upstream.requests[1].messages == upstream.requests[2].messages[: len(upstream.requests[1].messages)]
    )
    assert_screen_is_kept(run, model)


@MODELS
def test_a_citation_of_a_hostile_address_is_kept(upstream, handed_over, searching, model):
    address = 'https://wet.example/a\tb\nc(d)[2]`|<e>\\"&lt;%28'
    link = "[[1]](https://wet.example/a%09b%0Ac%28d%29%5B2%5D%60%7C%3Ce%3E%5C%22&lt%3B%28)"
    searching.find({"title": "Wet", "url": address, "content": "It is wet."}, query="wet")
    upstream.reply({"text": "Let me look. "}, search_call("wet"), times=1)
    upstream.reply({"text": "By [1] "}, {"hang": True}, times=1)
    upstream.reply({"text": "By [1] and so."} if model == "plain" else {"text": "and so."})
    run = handed_over(model, lambda run: wait_for(upstream, run, f"Let me look. \n\nBy {link}"))
    assert run.message.text == f"Let me look. \n\nBy {link} and so."
    assert [(one.number, one.url) for one in run.message.citations.all()] == [(1, address)]
    assert [obj.url for packets in rebuilt(run).values() for obj in packets if hasattr(obj, "url")] == [
        address
    ]
    assert_screen_is_kept(run, model)


@MODELS
def test_documents_found_after_a_hand_over_get_new_numbers(upstream, handed_over, searching, model):
    upstream.reply({"text": "Let me look. "}, search_call("moon"), times=1)
    upstream.reply({"reasoning": "Hm"}, {"hang": True}, times=1)
    upstream.reply(search_call("sea"), times=1)
    upstream.reply({"text": "Sea [3], moon [1]."})
    run = handed_over(model, lambda _run: upstream.wait_for_requests(2))
    assert document_numbers(tool_responses(upstream.requests[3])[1]) == [(3, "Sea")]
    assert run.message.text == (
        "Let me look. \n\nSea [[3]](https://sea.example/), moon [[1]](https://moon.example/)."
    )
    assert searching.queries == ["moon", "sea"]
    assert_screen_is_kept(run, model)


@MODELS
@pytest.mark.parametrize("may_repeat", [True, False], ids=["idempotent", "not idempotent"])
def test_a_hand_over_while_a_tool_hangs(upstream, handed_over, scripted_tool, searching, model, may_repeat):
    scripted_tool.hangs, scripted_tool.annotations = 1, Annotations(is_idempotent=may_repeat)
    upstream.reply({"reasoning": "Hm."}, {"text": "I act. "}, HANG, search_call("moon"), times=1)
    upstream.reply({"text": "Done [1]."})

    def both_run(run):
        found = ToolCall.objects.filter(run=run, name="web_search", status="completed")
        upstream.wait_for(lambda: scripted_tool.ran and found.exists())

    run = handed_over(model, both_run, before_the_next=scripted_tool.released.set)
    assert run.message.text == "I act. \n\nDone [[1]](https://moon.example/)."
    assert searching.queries == ["moon"]
    call = ToolCall.objects.get(run=run, name="act")
    if may_repeat:
        assert (len(scripted_tool.ran), call.status, call.response) == (2, "completed", "did wait")
    else:
        assert (len(scripted_tool.ran), call.status) == (1, "unknown")
        assert "may or may not" in call.response
    assert tool_responses(upstream.requests[1])[0] == call.response
    assert len(upstream.requests) == 2
    assert_screen_is_kept(run, model)
    if model == "prefilling":
        opened = entries(run)[0].message
        assert (opened["text"], opened["tool_calls"][0]["reasoning"]) == ("I act. ", "Hm.")
        assert [call["status"] for call in opened["tool_calls"]] == ["running", "completed"]


@MODELS
def test_a_hand_over_while_a_search_of_an_agent_hangs(upstream, handed_over, searching, model):
    upstream.reply({"reasoning": "Hm."}, {"text": "I ask. "}, RESEARCH, times=1)
    upstream.reply(
        {"reasoning": "In."}, {"text": "First. "}, search_call("moon"), contains="Who pulls", times=1
    )
    upstream.reply({"text": "Then. "}, search_call("stuck"), contains="Who pulls", times=1)
    upstream.reply({"reasoning": "So."}, {"text": "Sea [3]."}, contains="Who pulls")
    upstream.reply({"text": "It is [3]."})
    searching.answer("stuck", hang=True)

    def search_again():
        searching.rules.clear()
        searching.find(SEA, query="stuck")

    run = handed_over(
        model,
        lambda _run: searching.wait_for(lambda: "stuck" in searching.queries),
        before_the_next=search_again,
    )
    assert run.message.text == "I ask. \n\nIt is [[3]](https://sea.example/)."
    assert searching.queries == ["moon", "stuck", "stuck"]
    assert ToolCall.objects.filter(run=run, message=None).count() == 2
    agent = ToolCall.objects.get(run=run, name="research_agent")
    assert (agent.report, agent.report_reasoning) == ("Sea [3].", "So.")
    assert_screen_is_kept(run, model)


@MODELS
def test_a_hand_over_while_an_agent_writes_its_report(upstream, handed_over, searching, model):
    upstream.reply({"text": "I ask. "}, RESEARCH, times=1)
    upstream.reply({"text": "First. "}, search_call("moon"), contains="Who pulls", times=1)
    upstream.reply({"text": "Half a rep"}, {"hang": True}, contains="Who pulls", times=1)
    upstream.reply({"text": "The moon [1]."}, contains="Who pulls")
    upstream.reply({"text": "It is [1]."})
    run = handed_over(model, lambda _run: upstream.wait_for_requests(3))
    assert run.message.text == "I ask. \n\nIt is [[1]](https://moon.example/)."
    assert searching.queries == ["moon"]
    assert ToolCall.objects.get(run=run, name="research_agent").report == "The moon [1]."
    assert_screen_is_kept(run, model)


def test_a_run_handed_over_three_times_has_one_answer(
    ask, deliver, upstream, session, searching, scripted_tool
):
    """Each phase of the run is executed by another process."""
    scripted_tool.hangs, scripted_tool.annotations = 1, Annotations()
    upstream.reply({"text": "One. "}, search_call("moon"), times=1)
    upstream.reply({"hang": True}, times=1)
    upstream.reply({"text": "Two. "}, HANG, times=1)
    upstream.reply({"text": "Half of"}, {"hang": True}, times=1)
    upstream.reply({"text": "Three [1]."})
    [run] = ask("Why?", "plain", session=session)
    moments = [
        lambda: upstream.wait_for_requests(2),
        lambda: upstream.wait_for(lambda: scripted_tool.ran),
        lambda: upstream.wait_for_requests(4),
    ]
    for moment in moments:
        hand_over_when(run, moment)
    another_worker_does([run])
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.attempt) == (Status.COMPLETED, 4)
    assert run.message.text == "One. \n\nTwo. \n\nThree [[1]](https://moon.example/)."
    assert (searching.queries, len(scripted_tool.ran)) == (["moon"], 1)
    assert live(run) == rebuilt(run)


def hand_over_when(run, moment) -> None:
    worker = Runtime()
    worker.start()
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(worker.run, str(run.pk))
        moment()
        worker.drain(0)
        assert future.result(60)
    worker.stop()


def test_a_stop_before_the_second_attempt_starts_leaves_no_call_running(
    ask, deliver, runtime, upstream, session, scripted_tool
):
    scripted_tool.hangs = 1
    upstream.reply({"text": "I act. "}, HANG)
    [run] = ask("Why?", "plain", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    runtime.drain(0)
    assert future.result(60)
    revocation.revoke(run.turn.session_id, run.pk)
    another_worker_does([run])
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.attempt, len(scripted_tool.ran)) == (Status.STOPPED, 2, 1)
    snapshot, stop = entries(run)
    assert (snapshot.seq, stop.seq) == (0, run.last_seq)
    assert snapshot.message["text"] == run.message.text == "I act. "
    assert ToolCall.objects.get(run=run).status == "unknown"
