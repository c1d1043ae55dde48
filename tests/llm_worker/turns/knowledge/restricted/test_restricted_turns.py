"""Restricted runs: what a secondary model says of documents, and that nothing of them is anywhere else."""

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chat.infrastructure.background import with_connection
from chat.models import CitedDocument, ModelConfig, Run, SideRequest
from chat.protocol.states import Status
from config.log_format import TextFormatter
from knowledge.models import KnowledgeBase
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from tests import factories
from tests.indexed import add_indexed
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.turns.knowledge.restricted.canary_scene import TEXT, says, secondary, stored
from tests.llm_worker.turns.knowledge.searches import TOOL, call, open_with, responses


def events_of(caplog: pytest.LogCaptureFixture, run: Run) -> list[dict[str, Any]]:
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    named = [line for line in lines if str(line["event"]).startswith("safe_summary_")]
    return [line for line in named if line["run"] == str(run.pk)]


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
    says(upstream)
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
        "Late deliveries of yaktext by sea cost 62831853 shells.",
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
        says(upstream)
        talk(session, f"Window {window}", query="bread")
        content = json.loads(secondary(upstream)[-1].messages[1]["content"])
        assert len(content["chunks"]) == texts
        assert content["chunks"][0]["text"].endswith("would find."), "the most relevant first"


def test_a_query_that_finds_nothing_is_answered_as_one_that_finds_something(
    client: Any, talk: Any, upstream: Any, staff: KnowledgeBase, settings: Any
) -> None:
    """Where words alone are searched, the reason would tell of any word whether the documents hold it."""
    settings.EMBEDDINGS_MODEL = ""
    # Too little room for all texts, so that what is found decides.
    ModelConfig.objects.filter(name="writer").delete()
    settings.SAFE_SUMMARY_MODEL = "writer"
    factories.create_model(
        "writer", base_url=upstream.base_url, context_window=4_400, max_output_tokens=3_750
    )
    session = open_with(client, staff)
    told = []
    for query in ("late", "marmalade"):
        says(upstream)
        told.append(stored(talk(session, f"About {query}", query=query)))
    assert told[0] == told[1]
    chunks = [json.loads(asked.messages[1]["content"])["chunks"] for asked in secondary(upstream)]
    assert chunks[0] == chunks[1] != []


def test_a_safe_summary_counts_the_same_whatever_it_used(
    client: Any, talk: Any, upstream: Any, staff: KnowledgeBase
) -> None:
    def counted() -> tuple[int, Any]:
        [row] = [row for row in client.get("/api/usage/").json() if row["purpose"] == "safe_summaries"]
        [tokens] = [row for row in client.get("/api/usage/limits/").json() if row["code"] == "tokens_per_day"]
        answers = [row for row in client.get("/api/usage/").json() if row["purpose"] == "answers"]
        beside = sum(row["prompt_tokens"] + row["completion_tokens"] for row in answers)
        assert (
            row["requests"] * 5_500
            == row["prompt_tokens"] + row["completion_tokens"]
            == tokens["used"] - beside
        )
        return row["requests"], row["cost"]

    session = open_with(client, staff)
    for number in (1, 2):
        says(upstream)
        talk(session, f"Question {number}")
        assert counted() == (number, None)
        add_indexed(staff, f"{number}.txt", "Something that was added to it, so that there is more. " * 20)
    exact = SideRequest.objects.filter(purpose="safe_summary").values_list("prompt_tokens", flat=True)
    assert 5_000 not in exact, "the administration sees what was used"


def test_without_any_text_no_secondary_model_is_asked(
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
    says(upstream)
    talk(open_with(client, staff, tools=["current_time"]), "Why?")
    first = upstream.requests[0]
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["current_time", TOOL]
    assert "Questions about carriers" in first.messages[1]["content"]
    assert "neither may you" in first.messages[0]["content"]
    assert "[1]" not in first.messages[0]["content"], "there is nothing to cite"


class TestAccessThatShrinks:
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
        says(upstream)
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
        says(upstream, times=None)
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
