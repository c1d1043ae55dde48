"""Nothing of the documents that a restricted member may not read is anywhere, whatever happens in the member's turns."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chat.models import CitedDocument, Compression, ModelConfig, Run
from chat.protocol.states import Status
from compression.runner import CompressionRunner
from knowledge.models import KnowledgeBase
from llm_worker.side_requests.artifact import REFUSED, UNTOLD
from tests import factories
from tests.canaries import Leaks
from tests.features.titles.titling import name_session
from tests.indexed import add_indexed
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.turns.knowledge.restricted.canary_scene import (
    SAFE,
    TEXT,
    paths_of_bases,
    says,
    secondary,
    stored,
)
from tests.llm_worker.turns.knowledge.searches import call, open_with, responses
from tests.upstream_steps import Rule

Everywhere = Callable[..., list[str]]

ECHO = SAFE | {"summary": "It says: deliveries of the northern depot were late in most weeks of the spring."}
QUOTING = {"status": 500, "body": {"error": {"message": f"cannot parse: {TEXT}", "code": "zebratext"}}}


def events_of(caplog: pytest.LogCaptureFixture, run: Run) -> list[dict[str, Any]]:
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    named = [line for line in lines if str(line["event"]).startswith("safe_summary_")]
    return [line for line in named if line["run"] == str(run.pk)]


# The name of each reply, decision and reason in the log, and the steps of the server.
REPLIES: list[tuple[str, str, str, list[Any]]] = [
    ("an answer", "answer", SAFE["reason"], [{"text": json.dumps(SAFE)}]),
    ("in a code fence", "answer", SAFE["reason"], [{"text": f"```json\n{json.dumps(SAFE)}\n```"}]),
    ("a refusal", "refuse", "Against the rules.", [{"text": '{"decision": "refuse", "reason": "Against the rules."}'}]),
    ("eight words", "refuse", "repeats_documents", [{"text": json.dumps(ECHO)}]),
    ("a number", "refuse", "repeats_documents", [{"text": json.dumps(SAFE | {"risks": ["48.151.623 lost"]})}]),
    ("in the reason", "refuse", "repeats_documents", [{"text": json.dumps(SAFE | {"reason": TEXT})}]),
    ("prose", "refuse", "malformed", [{"text": TEXT}]),
    ("nothing", "refuse", "malformed", [{"text": ""}]),
    ("no decision", "refuse", "malformed", [{"text": json.dumps({"summary": TEXT})}]),
    ("unknown decision", "refuse", "unknown_decision", [{"text": json.dumps(SAFE | {"decision": TEXT})}]),
    ("an error that quotes", "refuse", "model_error", [QUOTING | {"status": 400}]),
    ("an error inside of a reply", "refuse", "model_error", [{"raw": json.dumps({"error": TEXT})}]),
    ("silence", "refuse", "timeout", [{"hang": True}]),
]  # fmt: skip


# One of each way that a reply goes; tests/llm_worker/side_requests has what makes a reply unsafe.
OF_EVERY_CHANGE = ("an answer", "eight words", "in the reason", "prose", "an error that quotes", "silence")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([one for one in REPLIES if one[0] in OF_EVERY_CHANGE], id="of each way"),
        pytest.param(REPLIES, id="all", marks=pytest.mark.full),
    ],
)
def test_whatever_the_secondary_model_says_no_text_of_a_document_is_anywhere(
    client: Any,
    talk: Any,
    upstream: Any,
    staff: KnowledgeBase,
    leaks: Leaks,
    runtime: Any,
    settings: Any,
    caplog: Any,
    everywhere: Everywhere,
    replies: list[tuple[str, str, str, list[Any]]],
) -> None:
    session = open_with(client, staff)
    runs = []
    with leaks.listening():
        for number, (name, decision, reason, steps) in enumerate(replies):
            says(upstream, *steps)
            settings.SAFE_SUMMARY_TIMEOUT_S = 0.5 if reason == "timeout" else 60
            run = talk(session, f"Question {number:02}")
            artifact = stored(run)
            told = "malformed" if reason in UNTOLD else reason
            assert (artifact["decision"], artifact["reason"]) == (decision, told), name
            assert (artifact["summary"] == REFUSED) == (reason.isidentifier()), name
            assert (artifact["results"], artifact["sources"], len(artifact)) == ([], [], 10), name
            assert responses(upstream.requests[-1])[-1] == json.dumps(artifact, ensure_ascii=False), name
            assert len(secondary(upstream)) == number + 1, "neither is asked again"
            started, completed, *persisted = events_of(caplog, run)
            assert (started["event"], started["chunks"]) == ("safe_summary_started", 1)
            assert completed["event"] == "safe_summary_completed"
            assert (completed["decision"], completed["reason"]) == (decision, reason), name
            assert completed["preview"] == artifact["summary"][:80]
            assert [line["event"] for line in persisted] == [
                "safe_summary_persist_started",
                "safe_summary_persist_done",
            ]
            runs.append(run)
        settings.SAFE_SUMMARY_MODEL = "missing"
        runs.append(talk(session, "Last question"))
        assert stored(runs[-1])["reason"] == "no_model"
        says(upstream, {"text": "A title"})
        name_session(runtime, str(runs[0].pk))
    assert len(secondary(upstream)) == len(replies)
    assert not CitedDocument.objects.exists()
    assert everywhere(leaks, runs[-1]) == []


@pytest.mark.full
def test_answers_made_again_are_as_restricted(
    client: Any,
    talk: Any,
    upstream: Any,
    deliver: Any,
    staff: KnowledgeBase,
    leaks: Leaks,
    everywhere: Everywhere,
) -> None:
    with leaks.listening():
        says(upstream, times=None)
        run = talk(open_with(client, staff), "Why?")
        upstream.rules.insert(0, Rule([call(query="late")], times=1, after_tools=0))
        again = client.post(f"/api/messages/{run.turn.user_message_id}/regenerations/", {}, format="json")
        second = Run.objects.get(pk=again.json()["runs"][0]["id"])
        deliver(second).result(60)
        second.refresh_from_db()
    assert (second.status, second.knowledge_access) == (Status.COMPLETED, "restricted")
    assert stored(second)["decision"] == "answer"
    assert everywhere(leaks, run, second) == []


@pytest.mark.full
def test_of_two_bases_a_restricted_one_restricts_what_is_shown_of_both(
    client: Any,
    talk: Any,
    upstream: Any,
    staff: KnowledgeBase,
    tides: KnowledgeBase,
    leaks: Leaks,
    everywhere: Everywhere,
    settings: Any,
) -> None:
    """The other one is shown to its owner by its own pages, and by nothing else."""
    settings.QUERY_EXPANSION = True
    own = Leaks(["yaktitle", "yaktext", "yaksummary", "yaktopic", "62831853"])
    session = open_with(client, tides, staff)
    runs = []
    with leaks.listening(), own.listening():
        for number, reply in enumerate((SAFE, SAFE | {"summary": "It cost 62831853 shells."})):
            upstream.reply({"text": '["carriers"]'}, stream=False, times=1)
            says(upstream, {"text": json.dumps(reply)})
            runs.append(talk(session, f"Question {number}"))
    assert [stored(run)["reason"] for run in runs] == [SAFE["reason"], "malformed"]
    for asked in secondary(upstream):
        assert leaks.has(asked.body)
        assert own.has(asked.body), "both are searched"
    assert everywhere(leaks, *runs) == []
    base = f"/api/knowledge-bases/{tides.pk}/"
    pages = {"/api/knowledge-bases/", base, f"{base}documents/", f"{base}search/?q=deliveries"}
    assert set(everywhere(own, *runs)) == pages


@pytest.mark.full
def test_of_large_bases_nothing_is_shown_that_a_search_finds(
    client: Any, talk: Any, upstream: Any, staff: KnowledgeBase, leaks: Leaks, everywhere: Everywhere
) -> None:
    """More chunks than are ever shown whole."""
    for number in range(30):
        text = f"Late deliveries of zebratext number {number} cost 48151623 euros. " * 20
        add_indexed(staff, f"zebratitle {number}.txt", text)
    ModelConfig.objects.update(context_window=9_000, max_output_tokens=1_000)
    with leaks.listening():
        says(upstream)
        run = talk(open_with(client, staff), "Why?")
    [asked] = secondary(upstream)
    assert 1 < len(json.loads(asked.messages[1]["content"])["chunks"]) <= 24
    assert stored(run)["decision"] == "answer"
    assert everywhere(leaks, run) == []


@pytest.mark.full
def test_research_is_as_restricted(
    client: Any, deliver: Any, upstream: Any, staff: KnowledgeBase, leaks: Leaks, everywhere: Everywhere
) -> None:
    research = {"call": {"name": "research_agent", "arguments": {"question": "Why are they late?"}}}
    upstream.reply(research, contains="Find out", times=1, after_tools=0)
    upstream.reply({"text": "So it was."}, contains="Find out", after_tools=1)
    upstream.reply(call(query="late"), times=1, after_tools=0)
    upstream.reply({"text": "They came too late."}, after_tools=1)
    says(upstream, times=None)
    with leaks.listening():
        run = answered(client, deliver, open_with(client, staff, tools=["research_agent"]), "Find out")
    assert run.status == Status.COMPLETED
    assert len(secondary(upstream)) == 1
    assert everywhere(leaks, run) == []


@pytest.mark.full
@pytest.mark.parametrize("where", ["secondary", "main"])
def test_another_attempt_finds_and_leaves_nothing(
    client: Any,
    deliver: Any,
    runtime: Any,
    upstream: Any,
    staff: KnowledgeBase,
    leaks: Leaks,
    everywhere: Everywhere,
    where: str,
) -> None:
    """The worker goes while that model is silent."""
    upstream.reply(call(query="late"), after_tools=0)
    if where == "main":
        upstream.reply({"hang": True}, times=1, after_tools=1)
    else:
        says(upstream, {"hang": True})
    says(upstream)
    upstream.reply({"text": "So."})
    with leaks.listening():
        started = factories.send_turn(client, open_with(client, staff), "Why?").json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        delivered = deliver(run)
        upstream.wait_for(
            lambda: len(upstream.requests) + len(upstream.asides) == (3 if where == "main" else 2)
        )
        runtime.drain(0)
        assert delivered.result(60)
        another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt, stored(run)["decision"]) == (Status.COMPLETED, 2, "answer")
    assert everywhere(leaks, run) == []


@pytest.mark.full
def test_summaries_of_the_history_and_titles_hold_nothing(
    client: Any,
    talk: Any,
    upstream: Any,
    runtime: Any,
    staff: KnowledgeBase,
    leaks: Leaks,
    everywhere: Everywhere,
) -> None:
    session = open_with(client, staff)
    with leaks.listening():
        says(upstream, times=4)
        runs = [talk(session, f"Question {number}" + " and why" * 100) for number in range(4)]
        compressed = compress(client, upstream, session)
        says(upstream, {"text": "A title"})
        name_session(runtime, str(runs[0].pk))
        says(upstream)
        runs.append(talk(session, "Last question"))
    assert compressed.status == "done"
    assert "They asked why." in str(upstream.requests[-1].body)
    assert everywhere(leaks, runs[-1]) == []


@pytest.mark.parametrize("after", ["restricted", None])
def test_what_a_reader_was_shown_is_neither_sent_nor_shown_in_later_turns(
    client: Any,
    deliver: Any,
    upstream: Any,
    runtime: Any,
    staff: KnowledgeBase,
    member: Any,
    leaks: Leaks,
    after: str | None,
    caplog: Any,
) -> None:
    """It stays with the turn in which the user was allowed to read it."""
    session = open_with(client, staff)
    upstream.reply(call(query="late"), contains="Question 0", times=1, after_tools=0)
    upstream.reply({"text": "They were late."}, contains="Question 0")
    first = answered(client, deliver, session, "Question 0" + " and why" * 400)
    assert leaks.has(upstream.requests[-1].body)
    member.update(role=after) if after else member.delete()
    upstream.requests.clear()
    upstream.rules.clear()
    caplog.clear()
    with leaks.listening():
        says(upstream, times=2) if after else None
        upstream.reply(*([call(query="late")] if after else [{"text": "No idea."}]), after_tools=0)
        upstream.reply({"text": "No idea."}, after_tools=1)
        second = answered(client, deliver, session, "Question 1" + " and why" * 400)
        again = f"/api/messages/{second.turn.user_message_id}/regenerations/"
        third = delivered(deliver, client.post(again, {}, format="json").json())
        compressed = compress(client, upstream, session)
        says(upstream, {"text": "A title"})
        name_session(runtime, str(second.pk))
    assert (second.status, third.status, compressed.status) == (Status.COMPLETED, Status.COMPLETED, "done")
    assert leaks.in_requests(upstream) + leaks.in_frames() + leaks.in_logs(caplog.records) == []
    later = [f"/api/runs/{run.pk}/{part}" for run in (second, third) for part in ("", "packets/")]
    assert leaks.in_answers(client, [*later, "/api/sessions/", *paths_of_bases([staff.pk])]) == []
    of_first = [f"chat_sentrequest: ({pk}," for pk in first.sent_requests.values_list("pk", flat=True)]
    of_first += [f"chat_toolcall: ({call.pk}," for call in first.tool_calls.all()]
    assert [row for row in leaks.in_tables() if not row.startswith(tuple(of_first))] == []


def test_hints_are_told_to_members_and_to_the_model_alone(
    client: Any,
    talk: Any,
    upstream: Any,
    runtime: Any,
    staff: KnowledgeBase,
    member: Any,
    everywhere: Everywhere,
    settings: Any,
) -> None:
    """In the block of each request, and where requests are kept."""
    staff.change(routing_hint="Questions about zebrahints", routing_keywords=["zebrakeyword"])
    member.update(role="restricted")
    hints = Leaks(["zebrahint", "zebrakeyword"])
    session = open_with(client, staff)
    settings.LOG_LLM_REQUESTS = False
    with hints.listening():
        says(upstream)
        run = talk(session, "Why?")
        says(upstream, {"text": "A title"})
        name_session(runtime, str(run.pk))
    base = f"/api/knowledge-bases/{staff.pk}/"
    found = everywhere(hints, run)
    assert {"/api/knowledge-bases/", base} <= set(found)
    told = [one for one in found if one.startswith("request ")]
    assert len(told) == 2
    for asked in upstream.requests:
        assert [hints.has(message) for message in asked.messages[:3]] == [False, True, False]
    kept = (
        "/admin/chat/run/",
        "/admin/chat/sentrequest/",
        "/admin/knowledge/knowledgebase/",
        "chat_run: ",
        "chat_sentrequest: ",
    )
    assert [one for one in found if not one.startswith(("/api/knowledge-bases/", "request ", *kept))] == []


def answered(client: Any, deliver: Any, session: str, text: str) -> Run:
    """The run of a message, ended."""
    return delivered(deliver, factories.send_turn(client, session, text).json())


def delivered(deliver: Any, started: dict[str, Any]) -> Run:
    """The run of a turn that has started, ended."""
    run = Run.objects.get(pk=started["runs"][0]["id"])
    deliver(run).result(60)
    run.refresh_from_db()
    return run


def compress(client: Any, upstream: Any, session: str) -> Compression:
    """A compression of the session's branch, ended; its model has a small window by then."""
    ModelConfig.objects.update(context_window=3_500, max_output_tokens=500)
    says(upstream, {"text": "They asked why. Each of their questions was the same, and none was answered."})
    assert client.post(f"/api/sessions/{session}/compression/", {}, format="json").status_code == 202
    asked = Compression.objects.get(session=session)
    runner = CompressionRunner()
    runner.run(str(asked.pk))
    runner.close()
    asked.refresh_from_db()
    return asked
