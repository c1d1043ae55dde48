"""How the model ended is stored, and readers of an incomplete answer are told in every shape they may read."""

import json
import re

import pytest
from django.urls import reverse

from chat.log.stream import delete_logs, read_now, run_log
from chat.models import ModelConfig, ToolCall
from tests import factories
from tests.llm_worker.outcomes import ended

COUNTED = {"usage": {"prompt_tokens": 7, "completion_tokens": 4096}}


@pytest.fixture
def answered(deliver, ask, upstream):
    """Answer by these steps; returns the ended run."""

    def answered(*steps, status="completed", code="", **fields):
        upstream.reply(*steps, times=1)
        [run] = ask("Why?", **fields)
        deliver(run).result(60)
        ended(run, status, code=code)
        return run

    return answered


def stop_packet(run):
    """The last packet of the log, as clients get it."""
    return json.loads(read_now(run_log(run.turn.session_id, run.pk)).lines[-1][1])["obj"]


def told(shape):
    return shape.get("finish_reason"), shape.get("finish_tokens")


def everywhere(run):
    """What the readers of the ended run are told: live and rebuilt packets, the message, the shared page."""
    client = factories.api_client(run.turn.session.owner)
    live = stop_packet(run)
    delete_logs(run_log(run.turn.session_id, run.pk))
    packets = client.get(f"/api/runs/{run.pk}/packets/").json()["packets"]
    [middle] = client.get(f"/api/runs/{run.pk}/packets/", {"after": run.last_seq - 1}).json()["packets"][1:]
    message = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()[-1]
    link = client.post(f"/api/sessions/{run.turn.session_id}/shares/", {}, format="json").json()["url"]
    page = client.get(link).content.decode()
    shared = json.loads(re.search(r'<script id="shown"[^>]*>(.*?)</script>', page)[1])["messages"][-1]
    return [told(one) for one in (live, packets[-1]["obj"], middle["obj"], message, shared)]


@pytest.mark.parametrize(
    ("steps", "stored", "shown"),
    [
        ([{"finish": "stop"}], ("stop", None), (None, None)),
        ([{"finish": "length"}, COUNTED], ("length", 4096), ("length", 4096)),
        ([{"finish": "content_filter"}], ("content_filter", None), ("content_filter", None)),
        ([{"finish": "tool_calls"}], ("tool_calls", None), (None, None)),
        ([{"finish": "eos_token"}], ("stop", None), (None, None)),
        ([{"finish": "mumbled"}], ("mumbled", None), (None, None)),
        ([{"finish": ""}], ("", None), (None, None)),
    ],
    ids=["stop", "length", "content_filter", "tool_calls", "another name", "unknown", "missing"],
)
def test_only_a_cut_answer_is_reported_as_incomplete(answered, steps, stored, shown):
    run = answered({"text": "The Moon pulls"}, *steps)
    assert everywhere(run) == [shown] * 5
    read = factories.api_client(run.turn.session.owner).get(f"/api/runs/{run.pk}/").json()
    assert (read["finish_reason"], read["finish_tokens"]) == stored
    assert (run.finish_reason, run.finish_tokens) == stored


def test_without_reported_usage_the_limit_that_was_sent_counts_or_the_words(answered, upstream):
    silent = {"chunk": {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}}
    end = {"raw": "data: [DONE]\n\n"}
    run = answered({"text": "one two three"}, silent, end, {"finish": None})
    assert run.finish_tokens == 3
    ModelConfig.objects.update(max_output_tokens=50)
    assert answered({"text": "one two three"}, silent, end, {"finish": None}).finish_tokens == 50


def test_reasoning_cut_before_the_answer_fails_and_says_why(answered):
    thought = {"reasoning": "Let me see"}
    run = answered(thought, {"finish": "MAX_TOKENS"}, COUNTED, status="failed", code="output_limit_reached")
    # The error says it; a finish reason is of an answer. Staff see both.
    assert everywhere(run) == [(None, None)] * 5
    assert (run.finish_reason, run.finish_tokens) == ("length", 4096)


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource"])
def test_an_answer_that_its_server_broke_off_fails_and_keeps_its_text(answered, upstream, reason):
    run = answered({"text": "Half an ans"}, {"finish": reason}, status="failed", code="upstream_interrupted")
    assert (run.message.text, everywhere(run)) == ("Half an ans", [(None, None)] * 5)
    assert reason in run.upstream_message
    assert len(upstream.requests) == 1


@pytest.fixture
def acting(agent_session, scripted_tool):
    return agent_session(tools=["act"])


@pytest.mark.parametrize("written", ['{"text": "half of', "", '{"text"'])
def test_a_call_cut_by_the_limit_does_not_run_and_the_model_is_told(
    answered, acting, scripted_tool, upstream, written
):
    cut = [{"call": {"name": "act", "arguments": {}}}, {"call": {"name": "act", "arguments": written}}]
    upstream.reply({"text": "I could not."}, after_tools=2)
    run = answered(*cut, {"finish": "length"}, COUNTED, session=acting)
    whole, half = ToolCall.objects.filter(run=run).order_by("tab_index")
    assert (whole.status, half.status) == ("completed", "failed")
    assert len(scripted_tool.ran) == 1
    assert "output limit" in half.response
    assert (run.finish_reason, run.message.text) == ("stop", "I could not.")


def test_the_last_inference_that_only_wrote_half_a_call_reports_the_cut(answered, acting, settings):
    settings.MAX_LLM_CYCLES = 1
    run = answered(
        {"text": "Wait"}, {"call": {"name": "act", "arguments": '{"a'}}, {"finish": "length"}, session=acting
    )
    assert run.finish_reason == "length"


def test_a_report_that_was_cut_says_so_to_the_model_that_reads_it(answered, agent_session, upstream):
    session = agent_session(tools=["research_agent", "current_time"])
    upstream.reply({"text": "Half of it"}, {"finish": "length"}, COUNTED, contains="Who?", times=1)
    upstream.reply({"text": "I know half."}, after_tools=1)
    call = {"call": {"name": "research_agent", "arguments": {"question": "Who?"}}}
    run = answered(call, session=session)
    [seen] = [one["content"] for one in upstream.requests[-1].messages if one["role"] == "tool"]
    assert seen.startswith("Half of it")
    assert seen.endswith("(The report is incomplete. Stopped at 4,096 tokens.)")
    assert ToolCall.objects.get(run=run).report == "Half of it"
    assert run.finish_reason == "stop"


def test_files_of_a_chat_keep_that_an_answer_is_incomplete(answered):
    run = answered({"text": "The Moon pulls"}, {"finish": "length"}, COUNTED)
    client = factories.api_client(run.turn.session.owner)
    path = f"/api/sessions/{run.turn.session_id}/export/"
    assert "*Stopped at 4,096 tokens.*" in read(client.get(path, {"as": "markdown"}))
    stored = json.loads(read(client.get(path)))
    imported = client.post("/api/sessions/import/", stored, format="json").json()
    [_, answer] = client.get(f"/api/sessions/{imported['id']}/messages/").json()
    assert told(answer) == ("length", 4096)


def read(response):
    return b"".join(response.streaming_content).decode()


def test_the_admin_shows_how_the_model_ended(answered):
    run = answered({"text": "The Moon pulls"}, {"finish": "length"}, COUNTED)
    page = factories.staff_client("view_run").get(reverse("admin:chat_run_change", args=[run.pk]))
    assert "length" in page.content.decode()
    assert "4096" in page.content.decode()
