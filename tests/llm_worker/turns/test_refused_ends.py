"""Figures about an answer never decide whether there is one: what the database refuses is left out, and the run ends once."""

import pytest

from chat.models import DailyUse, Run
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.transcript.usage import MAX_TOKENS, TokenUsage
from llm_worker.attempt.fenced_writes import finish_run
from tests.llm_worker.outcomes import ended

CHUNK = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("count", "stored"),
    [(14417.92, 14418), (-1_000_000, 0), (2**31, MAX_TOKENS), ("many", None), ([], None)],
    ids=["a fraction", "negative", "beyond the column", "text", "a list"],
)
def test_odd_counts_are_stored_as_far_as_they_are_counts(ask, deliver, upstream, count, stored):
    usage = {"prompt_tokens": count, "completion_tokens": 3}
    upstream.reply({"text": "Because."}, {"chunk": {**CHUNK, "usage": usage}}, {"finish": None})
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Because.")
    assert run.completion_tokens == 3
    if stored is None:
        assert 0 < run.prompt_tokens == run.estimated_tokens
    else:
        assert (run.prompt_tokens, run.estimated_tokens) == (stored, None)
    assert len(upstream.requests) == 1
    assert all(use.tokens >= 0 for use in DailyUse.objects.all())


def test_two_counts_whose_sum_is_beyond_the_column_end_the_run_once(ask, deliver, upstream, agent_session):
    session = agent_session(tools=["current_time"])
    usage = {"usage": {"prompt_tokens": MAX_TOKENS, "completion_tokens": MAX_TOKENS}}
    upstream.reply({"call": {"name": "current_time", "arguments": {}}}, usage, times=1)
    upstream.reply({"text": "Because."}, usage)
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    run.refresh_from_db()
    assert (run.status, run.prompt_tokens, run.failures) in {
        ("completed", MAX_TOKENS, 0),
        ("failed", MAX_TOKENS, 0),  # the limit on what one run may use
    }


@pytest.mark.parametrize(
    "details",
    [
        {"usage": TokenUsage(2**31, 1)},
        {"time_to_first_token_ms": 2**40},
        {"text": "Beca\x00use."},
        {"reasoning": "h\x00m"},
        {"text": "Beca\ud800use."},
    ],
    ids=["usage", "time", "NUL", "NUL in the reasoning", "half a character"],
)
def test_an_end_that_the_database_refuses_is_stored_with_its_text(ask, details):
    [waiting] = ask("Why?")
    run = Run.objects.claim(waiting.pk, owner=7)
    end = finish_run(
        run, RunOutcome(**{"status": Status.COMPLETED, "last_seq": 3, "text": "Because.", **details})
    )
    run = Run.objects.get(pk=run.pk)
    assert (run.status, run.last_seq) == ("completed", 3)
    assert run.message.text.startswith("Beca")
    assert run.message.text == end.text
