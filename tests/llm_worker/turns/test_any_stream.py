"""Whatever a server streams, the run ends once, keeps the text that came, and asks for nothing again that was shown."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from chat.models import ModelConfig, Run, Session
from chat.protocol.states import TERMINAL
from llm_worker.upstream.deltas import ReasoningDelta, TextDelta
from llm_worker.upstream.stream_reader import StreamReader
from tests.examples import examples
from tests.llm_worker.outcomes import ended
from tests.llm_worker.upstream.any_chunks import KEPT, STOP, AnyStream, events, said, streams

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture
def answer(
    ask: Any, deliver: Any, upstream: Any, agent_session: Any, runtime: Any, monkeypatch: Any
) -> Callable[[AnyStream], Run]:
    """Answers with the stream, and with a text if calls in it are followed by another request."""
    monkeypatch.setattr(runtime._models, "_first_retry_s", 0.001)
    session = agent_session(tools=["current_time"])
    owner, agent = session.owner, session.agent

    def answer(stream: AnyStream) -> Run:
        upstream.reset()
        ModelConfig.objects.update(dialect=[])
        upstream.reply(*({"raw": piece} for piece in stream.pieces), {"finish": None}, times=1)
        upstream.reply({"text": "Done."})
        [run] = ask("Why?", session=Session.objects.start(owner, agent=agent))
        deliver(run).result(60)
        run.refresh_from_db()
        return run

    return answer


def check(run: Run, stream: AnyStream, upstream: Any) -> None:
    assert run.status in TERMINAL
    assert run.error_code != "internal_error"
    # The log is contiguous, ends with one `stop`, and shows what is stored.
    ended(run, run.status, code=run.error_code)
    reader = StreamReader()
    deltas = [*reader.take(stream.body), *reader.end()]
    shown = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta | ReasoningDelta))
    if KEPT in "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)):
        assert KEPT in run.message.text
    first, *others = upstream.requests
    if shown:
        assert not [request for request in others if request.messages == first.messages]


def cut_off(*chunks: Any) -> AnyStream:
    """These chunks after the text, and no end."""
    return AnyStream(events(said(content=KEPT), *chunks), [], [], False)


# Rare among few examples.
@example(cut_off())
@example(cut_off({"choices": [{"finish_reason": 7}]}, b"{"))
@example(cut_off(said(tool_calls=[{"function": {"name": "current_time", "arguments": 0}}]), STOP))
@given(streams)
@settings(max_examples=examples(60), suppress_health_check=CHECKS)
def test_any_stream_ends_its_run_and_what_was_shown_stays(
    answer: Any, upstream: Any, stream: AnyStream
) -> None:
    check(answer(stream), stream, upstream)


@pytest.mark.full
@pytest.mark.timeout(300)
@given(streams)
@settings(max_examples=600, suppress_health_check=CHECKS)
def test_many_streams_end_their_runs_and_what_was_shown_stays(
    answer: Any, upstream: Any, stream: AnyStream
) -> None:
    check(answer(stream), stream, upstream)
