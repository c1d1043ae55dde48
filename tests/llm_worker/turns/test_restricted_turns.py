"""Restricted runs: what a secondary model says of documents, and that nothing of them is anywhere else."""

import json
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.infrastructure.threads import with_connection
from chat.models import CitedDocument, ModelConfig, Run, SideRequest, ToolCall
from chat.prompts import dynamic_context
from chat.protocol.states import Status
from config.log_format import TextFormatter
from knowledge.models import KnowledgeBase, KnowledgeBaseMember
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.restricted.artifact import REFUSED
from tests import factories
from tests.canaries import Leaks, is_secondary
from tests.indexed import add_indexed
from tests.llm_worker.lease.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended
from tests.upstream_steps import Rule

TOOL = "knowledge_base_search"
CANARIES = ["zebratitle", "zebratext", "zebrasummary", "zebratopic", "4711"]
TEXT = (
    "The zebratext deliveries of the northern depot were late in most weeks of the spring, which cost 4711 euros, "
    "since nobody had told the carriers that the gate closes early."
)
SAFE = {
    "decision": "answer",
    "reason": "The excerpts cover it.",
    "summary": "Carriers arrived too late because they did not know the opening hours.",
    "observations": ["It happened often."],
    "risks": [],
    "recommended_actions": ["Tell them."],
    "answer_guidance": "Be brief.",
    "confidence": "high",
}
ECHO = SAFE | {"summary": "It says: deliveries of the northern depot were late in most weeks of the spring."}
QUOTING = {"status": 500, "body": {"error": {"message": f"cannot parse: {TEXT}", "code": "zebratext"}}}


@pytest.fixture
def alice(transactional_db: None, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.MEDIA_ROOT = tmp_path
    settings.EMBEDDINGS_BASE_URL = settings.EMBEDDINGS_MODEL = ""
    settings.LOG_LLM_REQUESTS = True
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    sync_redis().flushdb()
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any, upstream: Any) -> Any:
    factories.create_model("large", base_url=upstream.base_url, is_default=True)
    return factories.api_client(alice)


@pytest.fixture
def staff(alice: Any) -> KnowledgeBase:
    """Alice is a restricted member."""
    base = KnowledgeBase.objects.start(
        factories.create_user("carol"),
        name="Staff",
        summary="zebrasummary",
        topics=["zebratopic"],
        routing_hint="Questions about carriers",
    )
    add_indexed(base, "zebratitle.txt", TEXT, url="https://staff.example/zebratitle")
    base.members.create(user=alice, role="restricted")
    return base


@pytest.fixture
def tides(alice: Any) -> KnowledgeBase:
    """Alice owns it."""
    base = KnowledgeBase.objects.start(alice, name="Tides", summary="zebrasummary")
    add_indexed(base, "zebratitle.txt", "Late deliveries of zebratext by sea cost 4711 shells.")
    return base


@pytest.fixture
def leaks(client: Any, caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.DEBUG)
    return Leaks(CANARIES)


@pytest.fixture
def talk(client: Any, deliver: Any, upstream: Any) -> Any:
    """Alice asks, the model searches once and answers; returns the run, ended."""

    def talk(session: str, text: str, query: str = "late deliveries", **body: Any) -> Run:
        upstream.reply(call(query=query), contains=text, times=1, after_tools=0)
        upstream.reply({"text": f"About {text} [1]"}, contains=text)
        started = factories.send_turn(client, session, text, **body)
        assert started.status_code == 202, started.json()
        run = Run.objects.get(pk=started.json()["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, Status.COMPLETED, text=f"About {text} [1]")
        return run

    return talk


def open_with(client: Any, *bases: KnowledgeBase, **fields: Any) -> str:
    body = {"knowledge_bases": [str(base.pk) for base in bases], **fields}
    created = client.post("/api/sessions/", body, format="json")
    assert created.status_code == 201, created.json()
    return str(created.json()["id"])


def call(**arguments: Any) -> dict[str, Any]:
    return {"call": {"name": TOOL, "arguments": arguments}}


def says(upstream: Any, *steps: Any, times: int | None = 1) -> None:
    """What the secondary model answers next."""
    upstream.reply(*steps, stream=False, times=times)


def secondary(upstream: Any) -> list[Any]:
    return [received for received in upstream.asides if is_secondary(received)]


def responses(request: Any) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def stored(run: Run) -> dict[str, Any]:
    """The response of the run's only call."""
    [row] = ToolCall.objects.filter(run=run)
    assert (row.status, row.documents) == ("completed", [])
    return dict(json.loads(row.response))


def events_of(caplog: pytest.LogCaptureFixture, run: Run) -> list[dict[str, Any]]:
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    named = [line for line in lines if str(line["event"]).startswith("safe_summary_")]
    return [line for line in named if line["run"] == str(run.pk)]


def paths_of(client: Any, run: Run) -> list[str]:
    """Everything that Alice reads of the run and its session."""
    session = f"/api/sessions/{run.turn.session_id}"
    body = {"leaf": str(run.message_id), "shows_details": True}
    link = client.post(f"{session}/shares/", body, format="json").json()["url"]
    bases = [f"/api/knowledge-bases/{base}" for base in run.knowledge_bases]
    of_bases = [
        f"{base}/{part}" for base in bases for part in ("", "documents/", "members/", "search/?q=deliveries")
    ]
    return [
        *of_bases,
        "/api/sessions/",
        "/api/sessions/?search=deliveries",
        f"{session}/",
        f"{session}/messages/",
        f"{session}/tree/",
        *(f"{session}/export/?as={kind}" for kind in ("json", "markdown", "zip")),
        link,
        f"/api{link}/",
        f"{session}/shares/",
        f"/api/runs/{run.pk}/",
        f"/api/runs/{run.pk}/packets/",
        "/api/knowledge-bases/",
        "/api/files/",
        "/api/agents/",
        "/api/usage/",
    ]


def everywhere(leaks: Leaks, client: Any, upstream: Any, records: Any, runs: Sequence[Run]) -> list[str]:
    """Where a canary was shown, kept or sent; the query of a path may name one, its answer may not."""
    permissions = [
        f"view_{model}"
        for model in (
            "session",
            "run",
            "siderequest",
            "chatmessage",
            "toolcall",
            "compression",
            "agent",
            "user",
        )
    ]
    admins = factories.staff_client(*permissions, name="dave")
    paths = [path for run in runs for path in paths_of(client, run)]
    return [
        *leaks.in_requests(upstream),
        *leaks.in_frames(),
        *leaks.in_answers(client, paths),
        *leaks.in_admin(admins),
        *leaks.in_tables(),
        *leaks.in_redis(),
        *leaks.in_logs(records),
    ]


REPLIES: list[tuple[str, str, str, list[Any]]] = [
    ("an answer", "answer", SAFE["reason"], [{"text": json.dumps(SAFE)}]),
    ("in a code fence", "answer", SAFE["reason"], [{"text": f"```json\n{json.dumps(SAFE)}\n```"}]),
    ("a refusal", "refuse", "Against the rules.", [{"text": '{"decision": "refuse", "reason": "Against the rules."}'}]),
    ("eight words", "refuse", "repeats_documents", [{"text": json.dumps(ECHO)}]),
    ("a number", "refuse", "repeats_documents", [{"text": json.dumps(SAFE | {"risks": ["4.711 lost"]})}]),
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
    leaks: Any,
    runtime: Any,
    settings: Any,
    caplog: Any,
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
    assert everywhere(leaks, client, upstream, caplog.records, runs[-1:]) == []


def test_the_secondary_request_has_fixed_rules_and_one_json_message(
    client: Any,
    talk: Any,
    upstream: Any,
    staff: KnowledgeBase,
    tides: KnowledgeBase,
    caplog: Any,
    settings: Any,
) -> None:
    caplog.set_level(logging.INFO)
    settings.LOG_LLM_REQUESTS = True
    settings.SAFE_SUMMARY_MODEL = "careful"
    factories.create_model("careful", base_url=upstream.base_url)
    says(upstream, {"text": json.dumps(SAFE)})
    run = talk(open_with(client, tides, staff), "Why?", query="late zebratext")
    [asked] = secondary(upstream)
    assert (asked.body["model"], asked.body["temperature"], asked.body["stream"]) == ("careful", 0.1, False)
    assert "tools" not in asked.body
    rules, message = asked.messages
    assert (rules["role"], message["role"]) == ("system", "user")
    content = json.loads(message["content"])
    assert list(content) == ["query", "knowledge_bases", "chunks"]
    assert content["query"] == "late zebratext"
    assert {base["name"] for base in content["knowledge_bases"]} == {"Staff", "Tides"}
    assert {chunk["text"] for chunk in content["chunks"]} == {
        TEXT,
        "Late deliveries of zebratext by sea cost 4711 shells.",
    }
    assert "zebratitle" not in message["content"]

    row = SideRequest.objects.get(run=run)
    assert (row.purpose, row.model, row.attempt) == ("safe_summary", "careful", 1)
    shown = json.loads(row.messages[1]["content"])
    assert [set(chunk) for chunk in shown["chunks"]] == [{"id", "length", "sha256"}] * 2
    assert set(shown["query"]) == set(json.loads(row.reply)) == {"length", "sha256"}
    logged = [TextFormatter().format(record) for record in caplog.records if isinstance(record.msg, dict)]
    about = [json.loads(line) for line in logged if '"careful"' in line]
    assert [line["event"] for line in about] == ["LLM_REQUEST", "LLM_RESPONSE"]
    assert about[0]["messages"] == row.messages
    assert about[1]["text"] == json.loads(row.reply)


def test_small_bases_are_shown_whole_and_large_ones_as_far_as_a_search_finds(
    client: Any, talk: Any, upstream: Any, staff: KnowledgeBase, settings: Any
) -> None:
    add_indexed(staff, "other.txt", "Nothing that a question about bread would find.")
    settings.SAFE_SUMMARY_MODEL = "writer"
    factories.create_model("writer", base_url=upstream.base_url)
    session = open_with(client, staff)
    for window, texts in ((128_000, 2), (4_400, 1)):
        ModelConfig.objects.filter(name="writer").update(context_window=window, max_output_tokens=3_750)
        says(upstream, {"text": json.dumps(SAFE)})
        talk(session, f"Window {window}", query="bread")
        content = json.loads(secondary(upstream)[-1].messages[1]["content"])
        assert len(content["chunks"]) == texts
        assert content["chunks"][0]["text"].endswith("would find."), "the most relevant first"


def test_without_a_hit_no_secondary_model_is_asked(
    client: Any, talk: Any, upstream: Any, alice: Any, caplog: Any
) -> None:
    empty = KnowledgeBase.objects.start(factories.create_user("carol"), name="Empty")
    empty.members.create(user=alice, role="restricted")
    artifact = stored(run := talk(open_with(client, empty), "Why?"))
    assert secondary(upstream) == []
    assert (artifact["decision"], artifact["reason"], artifact["summary"]) == ("refuse", "no_hits", "")
    assert [event.get("chunks") for event in events_of(caplog, run)][:1] == [0]


def test_the_model_is_told_names_and_hints_and_offered_the_search_alone(
    client: Any, talk: Any, upstream: Any, staff: KnowledgeBase
) -> None:
    says(upstream, {"text": json.dumps(SAFE)})
    talk(open_with(client, staff, tools=["current_time"]), "Why?")
    first = upstream.requests[0]
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["current_time", TOOL]
    assert "Questions about carriers" in first.messages[1]["content"]
    assert "neither may you" in first.messages[0]["content"]
    assert "[1]" not in first.messages[0]["content"], "there is nothing to cite"


def test_answers_made_again_are_as_restricted(
    client: Any, talk: Any, upstream: Any, deliver: Any, staff: KnowledgeBase, leaks: Any, caplog: Any
) -> None:
    with leaks.listening():
        says(upstream, {"text": json.dumps(SAFE)}, times=None)
        run = talk(open_with(client, staff), "Why?")
        upstream.rules.insert(0, Rule([call(query="late")], times=1, after_tools=0))
        again = client.post(f"/api/messages/{run.turn.user_message_id}/regenerations/", {}, format="json")
        second = Run.objects.get(pk=again.json()["runs"][0]["id"])
        deliver(second).result(60)
        second.refresh_from_db()
    assert (second.status, second.knowledge_access) == (Status.COMPLETED, "restricted")
    assert stored(second)["decision"] == "answer"
    assert everywhere(leaks, client, upstream, caplog.records, [run, second]) == []


class TestAccessThatShrinks:
    @pytest.fixture
    def member(self, staff: KnowledgeBase, alice: Any) -> Any:
        """Alice's membership; she reads the documents until it changes."""
        member = KnowledgeBaseMember.objects.filter(knowledge_base=staff, user=alice)
        member.update(role="reader")
        return member

    @pytest.mark.parametrize("layout", ["moving", "append_only"])
    def test_between_turns_nothing_of_the_turn_before_is_sent_again(
        self,
        client: Any,
        talk: Any,
        deliver: Any,
        upstream: Any,
        staff: Any,
        member: Any,
        layout: str,
        leaks: Any,
    ) -> None:
        agent = client.post(
            "/api/agents/", {"name": "A", "prompt": "Help.", "context_layout": layout}, format="json"
        )
        session = open_with(client, staff, agent=agent.json()["id"])
        upstream.reply(call(query="late"), contains="One", times=1, after_tools=0)
        upstream.reply({"text": "About One"}, contains="One")
        started = factories.send_turn(client, session, "One").json()
        deliver(Run.objects.get(pk=started["runs"][0]["id"])).result(60)
        assert leaks.has(upstream.requests[-1].body)
        member.update(role="restricted")
        upstream.requests.clear()
        says(upstream, {"text": json.dumps(SAFE)})
        run = talk(session, "Two")
        assert stored(run)["decision"] == "answer"
        assert leaks.in_requests(upstream) == []
        assert responses(upstream.requests[-1])[0] == OMITTED_RESPONSE

    @pytest.mark.parametrize("after", ["restricted", None])
    def test_within_a_turn_the_next_request_has_lost_it(
        self,
        client: Any,
        deliver: Any,
        upstream: Any,
        staff: KnowledgeBase,
        member: Any,
        after: str | None,
        leaks: Any,
    ) -> None:
        change = partial(member.update, role=after) if after else member.delete
        upstream.reply(call(query="late"), times=1, after_tools=0)
        upstream.reply_by(once(lambda: (change(), call(query="deliveries"))[1], {"text": "So [1]."}))
        says(upstream, {"text": json.dumps(SAFE)}, times=None)
        started = factories.send_turn(client, open_with(client, staff), "Why?").json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        with leaks.listening():
            deliver(run).result(60)
        run.refresh_from_db()
        assert (run.status, run.message.text) == (Status.COMPLETED, "So [1].")
        first, second, third = upstream.requests
        assert leaks.has(first.body), "the metadata of a reader"
        assert leaks.has(second.body), "what the reader found"
        assert not leaks.has(third.body)
        assert responses(third)[0] == OMITTED_RESPONSE
        shown = "Questions about carriers" if after else "Unknown"
        assert shown in third.messages[1]["content"]
        assert not CitedDocument.objects.filter(message=run.message_id).exists()

    def test_another_attempt_is_restricted_from_its_first_request(
        self,
        client: Any,
        deliver: Any,
        upstream: Any,
        runtime: Any,
        staff: KnowledgeBase,
        member: Any,
        leaks: Any,
    ) -> None:
        upstream.reply(call(query="late"), times=1, after_tools=0)
        upstream.reply({"hang": True}, times=1, after_tools=1)
        upstream.reply({"text": "So."})
        started = factories.send_turn(client, open_with(client, staff), "Why?").json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        delivered = deliver(run)
        upstream.wait_for_requests(2)
        member.update(role="restricted")
        runtime.drain(0)
        assert delivered.result(60)
        another_worker_does([run])
        run.refresh_from_db()
        assert (run.status, run.attempt) == (Status.COMPLETED, 2)
        assert not leaks.has(upstream.requests[-1].body)
        assert responses(upstream.requests[-1]) == [OMITTED_RESPONSE]


def once(first: Callable[[], Any], later: Any) -> Callable[[Any], list[Any]]:
    """Steps for requests after a tool response: `first` makes those of the first one, in a thread with the database."""
    asked: list[Any] = []

    def steps(_: Any) -> list[Any]:
        asked.append(None)
        if len(asked) > 1:
            return [later]
        with ThreadPoolExecutor(1) as thread:
            return [thread.submit(with_connection, first).result(30)]

    return steps
