"""When an ended run requests compression: at the first history that may be too long, and not before."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chat.compressions.requests import WantedCompression, request_after_run
from chat.models import ChatMessage, Compression
from chat.protocol.states import Status
from chat.transcript.entries import Block, Entry
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import build_cycle
from llm_worker.records.context_usage import SLACK_SHARE, SLACK_TOKENS, WindowUsage
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.upstream.model_request import Model
from tests.llm_worker.outcomes import ended

THEN = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
FRAMING = PromptParts(system="s " * 100, project="p " * 400, project_tokens=400, dynamic_context="d " * 50)


def brief(*tokens: int, window: int = 10_000) -> Brief:
    """Questions and answers of these lengths by turns."""
    roles = ("user", "assistant")
    entries = [
        Entry(str(at), roles[at % 2], "word " * count, THEN, token_count=count)
        for at, count in enumerate(tokens)
    ]
    model = Model("m", "http://localhost", max_output_tokens=1000)
    return Brief(model, entries, FRAMING, context_window=window, max_cycles=6)


def due(given: Brief, answer: str = "") -> int | None:
    usage = WindowUsage(0.75, given)
    usage.record(build_cycle(given, [], Allowance().open_loop(is_outermost=True)).report.context)
    wanted = usage.wanted_compression(answer)
    return wanted.reserved_tokens if wanted else None


@pytest.mark.pure
def test_a_short_history_requests_no_compression() -> None:
    assert due(brief(100), "A short answer.") is None
    assert WindowUsage(0.75).wanted_compression("No request was made.") is None


@pytest.mark.pure
def test_fixed_parts_are_reserved_and_do_not_count_as_history() -> None:
    full = brief(2000, 2000, 2000)
    reserved = due(full, "word " * 1000)
    assert reserved is not None
    # The answer, the prompts, and the share of the window for errors of the estimates.
    assert 1000 + 550 + 500 <= reserved <= 1000 + 600 + 500
    roomy = replace(full, context_window=20_000)
    assert due(roomy, "word " * 1000) is None


@pytest.mark.pure
@pytest.mark.slow
@pytest.mark.parametrize("answer", [0, 10, 500, 3000])
def test_compression_is_never_late_and_at_most_slightly_early(answer: int) -> None:
    """The first length at which it asks is below the limit, and not far below."""
    asked_at = next(
        history
        for history in range(0, 9000, 50)
        if due(brief(history // 2, history - history // 2, 10), "word " * answer) is not None
    )
    limit = 0.75 * (9500 - 1000 - 550 - 12)
    total = asked_at + 10 + answer
    assert total <= limit
    assert total >= limit * (1 - SLACK_SHARE) - SLACK_TOKENS - 200


@pytest.mark.pure
def test_a_truncated_history_always_requests_compression() -> None:
    assert due(brief(100, 100_000, 100)) is not None
    first, *rest = brief(100, 100, 100).entries
    cut = [replace(first, blocks=(Block("D", "long " * 20_000, 20_000),)), *rest]
    own = [*cut[:-1], replace(cut[-1], blocks=(Block("D", "new", 1),))]
    assert due(replace(brief(100), entries=own)) is not None


def test_a_run_that_fills_its_window_has_its_branch_compressed(small, deliver, ask, upstream) -> None:
    upstream.reply({"text": "Yes."}, times=1)
    [run] = ask("Hello?", "small")
    deliver(run).result()
    assert not Compression.objects.exists()
    upstream.reply({"text": "word " * 1600}, times=1)
    run.turn.session.refresh_from_db()
    [run] = ask("Tell me all of it", "small", session=run.turn.session)
    deliver(run).result()
    asked = Compression.objects.get()
    assert (asked.parent_id, asked.leaf_id) == (run.turn.user_message_id, run.message_id)
    assert (asked.model_config, asked.triggered_by, asked.status) == (small, "auto", "queued")
    assert 500 < asked.reserved_tokens < 1000


def test_a_failed_run_requests_no_compression(small, deliver, ask, upstream) -> None:
    upstream.reply({"text": "word " * 1600}, {"eof": "close"}, times=1)
    [run] = ask("Tell me all of it", "small")
    deliver(run).result()
    ended(run, Status.FAILED, code="upstream_interrupted")
    assert not Compression.objects.exists()


def test_a_switch_to_a_smaller_model_has_the_branch_compressed_for_it(small, deliver, ask, upstream) -> None:
    upstream.reply({"text": "word " * 4000}, times=1)
    [run] = ask("Tell me all of it")
    deliver(run).result()
    assert not Compression.objects.exists()
    run.turn.session.refresh_from_db()
    [run] = ask("And now?", "small", session=run.turn.session)
    deliver(run).result()
    ended(run, Status.COMPLETED)
    assert Compression.objects.get().model_config == small


def test_a_session_deleted_meanwhile_causes_no_error(small, ask) -> None:
    [run] = ask("Hello?", "small")
    ChatMessage.objects.filter(pk=run.message_id).delete()
    request_after_run(run, WantedCompression(100))
    assert not Compression.objects.exists()
