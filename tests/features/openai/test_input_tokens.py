"""How many tokens a response would read is counted without one, and nothing of it is left."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from openai.types.responses import InputTokenCountResponse

from chat.models import Agent, ChatMessage, Run, Session, Turn
from chat.transcript.tokens import count_tokens
from features.openai import input_tokens
from features.openai.api import OpenAIInputTokensView
from features.openai.models import ResponseRequest
from tests import factories, huge_session
from tests.features.openai.test_models import by_token, refused
from tests.features.openai.test_responses import CALL, FUNCTION, OUTPUT, messages, post
from web.rest.request_slots import EXPENSIVE

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "Spring tides follow the new Moon. " * 20


def ask(client: Any, **body: Any) -> Any:
    body = {"input": "Why two tides?", **body}
    return client.post("/v1/responses/input_tokens", body, content_type="application/json")


def count(client: Any, **body: Any) -> int:
    answer = ask(client, **body)
    assert answer.status_code == 200, answer.content
    return InputTokenCountResponse.model_validate(answer.json(), strict=True).input_tokens


def stored() -> list[int]:
    return [model.objects.count() for model in (Session, ChatMessage, Turn, Run, ResponseRequest)]


@pytest.mark.parametrize(
    "body",
    [
        {"input": f"Why two tides?{WORDS}"},
        {"instructions": WORDS},
        {"input": [*messages("Hm?"), *messages(WORDS, role="assistant"), *messages("Why two tides?")]},
        {"input": [*messages("Hm?"), CALL, {**OUTPUT, "output": WORDS}]},
        {"tools": [{**FUNCTION, "description": WORDS}]},
        {"model": "agent/pilot"},
    ],
    ids=["question", "instructions", "history", "output", "function", "agent"],
)
def test_everything_that_the_model_reads_is_counted(alice: Any, body: dict[str, Any]) -> None:
    Agent.objects.create(owner=alice, name="Pilot", prompt=WORDS)
    client = by_token(alice)
    more = count(client, **body) - count(client)
    assert count_tokens(WORDS) <= more <= count_tokens(WORDS) + 80
    assert stored() == [0] * 5


def test_what_is_continued_is_counted_with_what_the_latest_answer_said_of_its_tools(alice: Any) -> None:
    client = by_token(alice)
    first = post(client, tools=[FUNCTION]).json()
    factories.finish_run(str(Run.objects.get().pk), WORDS)
    before = stored()
    continued = {"previous_response_id": first["id"]}
    more = count(client, **continued) - count(client)
    assert count_tokens(WORDS) <= more <= count_tokens(WORDS) + 80
    assert count(client, conversation=first["conversation"]["id"]) == count(client, **continued)
    functions = count(client, tools=[FUNCTION]) - count(client)
    usage = {"system": 1000, "tools": 500 + functions}
    Run.objects.update(context_usage=usage)
    assert count(client, **continued) > 1500 + count_tokens(WORDS)
    assert count(client, **continued, tools=[FUNCTION]) == count(client, **continued) + functions
    assert stored() == before


def test_what_is_refused_as_a_response_is_refused_as_its_count(alice: Any) -> None:
    client = by_token(alice)
    refused(ask(client, model="nothing"), 404, "model_not_found", "model")
    refused(ask(client, input=""), 400, "message_empty", "input")
    refused(ask(client, conversation=f"conv_{'0' * 32}"), 404, "not_found", "conversation")
    refused(
        ask(client, previous_response_id="resp_1"), 404, "previous_response_not_found", "previous_response_id"
    )
    picture = [{"type": "input_image", "image_url": "data:image/png;base64,YQ=="}]
    refused(ask(client, input=messages(picture)), 400, "invalid_value", "input")
    assert stored() == [0] * 5


def test_texts_are_counted_when_nothing_is_locked(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    locks: list[bool] = []

    def count_noting_locks(text: str) -> int:
        locks.append(connection.in_atomic_block)
        return count_tokens(text)

    monkeypatch.setattr(input_tokens, "count_tokens", count_noting_locks)
    count(by_token(alice), input=[*messages("Hm?"), CALL, OUTPUT], tools=[FUNCTION])
    assert locks
    assert not any(locks)


def test_few_requests_to_count_are_served_together() -> None:
    assert OpenAIInputTokensView.slots is EXPENSIVE


def test_the_latest_measured_answer_of_many_is_found_by_indexes(alice: Any) -> None:
    """Postgres plans by statistics: the tables have so many rows that an index is cheaper than a scan."""
    others = str(Session.objects.start(alice).pk)
    with transaction.atomic(), connection.cursor() as cursor:
        huge_session.fill(cursor.execute, others, messages=4000, calls=0, answers=range(2, 4001, 2))
    post(by_token(alice))
    run = Run.objects.for_work().get(status="queued")
    Run.objects.exclude(pk=run.pk).update(
        model_config=run.model_config, context_usage={"system": 1, "tools": 0}
    )
    with transaction.atomic(), connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("ANALYZE chat_run, chat_turn, chat_chatmessage")
        assert input_tokens._find_measured(run) is None
        plans = []
        for query in queries.captured_queries:
            cursor.execute(f"EXPLAIN {query['sql']}")
            plans.append("\n".join(line for [line] in cursor.fetchall()))
    assert plans
    assert not any("Seq Scan" in plan or "run_by_age" in plan for plan in plans), plans


@pytest.mark.parametrize("made_for", [128_000, 1_000], ids=["the same window", "a smaller one"])
def test_what_the_summary_of_the_window_replaces_is_not_counted(alice: Any, made_for: int) -> None:
    client = by_token(alice)
    history = [*messages(WORDS), CALL, {**OUTPUT, "output": WORDS}, *messages(WORDS, role="assistant")]
    first = post(client, input=[*history, *messages("Why?")]).json()
    question = Run.objects.latest("created_at").turn.user_message
    factories.finish_run(str(Run.objects.latest("created_at").pk), "Two tides.")
    continued = {"previous_response_id": first["id"]}
    whole = count(client, **continued)
    factories.create_summary(question, question.parent, "Tides.", 2, made_for)
    less = whole - count(client, **continued)
    if made_for == 1_000:
        assert less == 0
    else:
        assert 3 * count_tokens(WORDS) - 20 < less < 3 * count_tokens(WORDS) + 80
