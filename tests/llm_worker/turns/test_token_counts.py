"""Requests of models whose tokens are counted by their own encoding, or by an estimate that their server corrects."""

import json

import pytest
from django.utils import timezone

from chat.models import ChatMessage, ModelConfig, Run, Turn
from chat.protocol.states import Status
from chat.transcript.tokens import count_tokens
from tests.llm_worker.outcomes import ended

# In cl100k_base 700 tokens, in o200k_base 202.
HINDI = "नमस्ते दुनिया " * 50
# In cl100k_base 201 tokens, in o200k_base 251.
NAMES = "HTMLParserXMLHttpRequest " * 50
WINDOW = 4_000


def words_of(body):
    return sum(
        count_tokens(json.dumps(message["content"], ensure_ascii=False)) for message in body["messages"]
    )


@pytest.fixture
def model(transactional_db, upstream):
    """A model whose server has its own count of the tokens, as many as `server_factor` for one of ours."""

    def model(server_factor=1.0, **fields):
        def answer(body):
            tokens = int(words_of(body) * server_factor)
            if tokens > WINDOW:
                error = {"message": f"{tokens} tokens", "code": "context_length_exceeded"}
                return [{"status": 400, "body": {"error": error}}]
            return [{"text": "Yes."}, {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}}]

        upstream.reply_by(answer)
        given = {"context_window": WINDOW, "max_output_tokens": 100, **fields}
        return ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, **given)

    return model


@pytest.fixture
def history(agent_session):
    """A session with these questions, each answered."""

    def history(*questions):
        session = agent_session()
        for text in questions:
            question = ChatMessage.objects.append(
                session.leaf, role="user", text=text, token_count=count_tokens(text)
            )
            answer = ChatMessage.objects.append(question, role="assistant", text="So.", token_count=2)
            turn = Turn.objects.create(session=session, user_message=question, ended_at=timezone.now())
            Run.objects.create(
                turn=turn, message=answer, model="old", model_index=0, status="completed", ended_at=timezone.now(),
                deadline=timezone.now(), last_seq=3, announced_at=timezone.now(),
            )  # fmt: skip
            question.choose()
            answer.choose()
            session.point_at(answer)
        return session

    return history


def asked(request):
    return [
        message["content"].partition("\n\n<sent_at>")[0]
        for message in request.messages
        if message["role"] == "user"
    ]


def answered(ask, deliver, session=None, text="And now?"):
    [run] = ask(text, session=session)
    deliver(run).result(60)
    return run


def test_history_that_only_the_estimate_takes_for_too_long_is_sent(ask, deliver, upstream, model, history):
    model(tokenizer="o200k_base", server_factor=0.3)
    run = answered(ask, deliver, history(*[HINDI.strip()] * 6))
    ended(run, Status.COMPLETED, text="Yes.")
    assert asked(upstream.requests[0]) == [*[HINDI.strip()] * 6, "And now?"]


def test_history_that_only_the_estimate_takes_to_fit_is_left_out(ask, deliver, upstream, model, history):
    model(tokenizer="o200k_base")
    run = answered(ask, deliver, history(*[NAMES.strip()] * 14))
    ended(run, Status.COMPLETED, text="Yes.")
    assert 8 < len(asked(upstream.requests[0])) - 1 < 14


def test_the_first_request_measures_the_factor_and_later_ones_fit(ask, deliver, upstream, model, history):
    config = model(server_factor=1.3)
    answered(ask, deliver, text="word " * 500)
    config.refresh_from_db()
    assert config.token_samples == 1
    assert 1.15 < config.token_factor < 1.35
    run = answered(ask, deliver, history(*["word " * 300] * 11))
    ended(run, Status.COMPLETED, text="Yes.")
    assert 2.9 * 1000 < 1.3 * words_of(upstream.requests[1].body) < WINDOW


def test_a_settled_factor_is_not_written_by_every_run(ask, deliver, model):
    config = model(server_factor=1.2, token_factor=1.2, token_samples=64)
    for _ in range(3):
        answered(ask, deliver, text="word " * 500)
    config.refresh_from_db()
    assert (config.token_factor, config.token_samples) == (1.2, 64)


@pytest.mark.parametrize(
    "fields", [{"tokenizer": "o200k_base"}, {"is_demo": True}], ids=["its own encoding", "the demo"]
)
def test_models_that_are_not_estimated_are_not_measured(ask, deliver, model, fields):
    config = model(server_factor=1.3, **fields)
    answered(ask, deliver, text="word " * 500)
    config.refresh_from_db()
    assert (config.token_factor, config.token_samples) == (1.0, 0)


def test_short_requests_and_implausible_counts_are_not_measured(ask, deliver, upstream, model):
    config = model(server_factor=1.3)
    answered(ask, deliver, text="Hi")
    upstream.rules.clear()
    upstream.reply({"text": "Yes."}, {"usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    answered(ask, deliver, text="word " * 500)
    config.refresh_from_db()
    assert (config.token_factor, config.token_samples) == (1.0, 0)
