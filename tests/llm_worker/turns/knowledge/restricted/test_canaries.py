"""Nothing of the documents that a restricted member may not read is anywhere, whatever happens in the member's turns."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chat.models import CitedDocument, Run
from chat.protocol.states import Status
from knowledge.models import KnowledgeBase
from llm_worker.restricted.artifact import REFUSED
from tests.canaries import Leaks
from tests.llm_worker.turns.knowledge.restricted.canary_scene import SAFE, TEXT, says, secondary, stored
from tests.llm_worker.turns.knowledge.searches import call, open_with, responses
from tests.upstream_steps import Rule

Everywhere = Callable[..., list[str]]

ECHO = SAFE | {"summary": "It says: deliveries of the northern depot were late in most weeks of the spring."}
QUOTING = {"status": 500, "body": {"error": {"message": f"cannot parse: {TEXT}", "code": "zebratext"}}}


def events_of(caplog: pytest.LogCaptureFixture, run: Run) -> list[dict[str, Any]]:
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    named = [line for line in lines if str(line["event"]).startswith("safe_summary_")]
    return [line for line in named if line["run"] == str(run.pk)]


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
) -> None:
    session = open_with(client, staff)
    runs = []
    with leaks.listening():
        for number, (name, decision, reason, steps) in enumerate(REPLIES):
            says(upstream, *steps)
            settings.SAFE_SUMMARY_TIMEOUT_S = 0.5 if reason == "timeout" else 60
            run = talk(session, f"Question {number:02}")
            artifact = stored(run)
            assert (artifact["decision"], artifact["reason"]) == (decision, reason), name
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
        runtime.title(str(runs[0].pk))
    assert len(secondary(upstream)) == len(REPLIES)
    assert not CitedDocument.objects.exists()
    assert everywhere(leaks, runs[-1]) == []


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
