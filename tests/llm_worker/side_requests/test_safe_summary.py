"""A safe summary never fails and quotes nothing in a log, whatever breaks around it."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from chat.models import ModelConfig
from llm_worker.side_requests.artifact import Artifact, Excerpt, Failure, refusal
from llm_worker.side_requests.safe_summary import (
    Found,
    SafeSummaries,
    SecondaryModel,
    build_request,
    load_secondary,
)
from llm_worker.upstream.chat_completion import Completion
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model, Request

pytestmark = pytest.mark.pure

SECONDARY = SecondaryModel(ModelConfig(name="m", context_window=32_000), Model("m", "http://m.example/v1"))
RUN: Any = SimpleNamespace(pk=uuid4(), attempt=1, turn=SimpleNamespace(session_id=uuid4()))
FOUND = Found([("b1", "Staff")], [Excerpt(f"d{number}:0", f"zebra quartz {number}") for number in range(30)])
ANSWER = json.dumps({"decision": "answer", "summary": "They are stones."})


class Rows:
    """Instead of the database: there is a secondary model, and nothing is stored."""

    async def call_with_retry(self, function: Any, *_: Any) -> Any:
        return SECONDARY if function is load_secondary else None


class Answering:
    """A model server that does this. asked: what it was asked."""

    def __init__(self, does: Exception | str) -> None:
        self.does = does
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if isinstance(self.does, Exception):
            raise self.does
        return Completion(self.does)


async def summarise(models: Any, found: Found | Exception = FOUND, query: str = "zebra?") -> Artifact:
    async def retrieve(free_tokens: int) -> Found:
        assert 0 < free_tokens < 32_000
        if isinstance(found, Exception):
            raise found
        return found

    return await SafeSummaries(RUN, models, Rows()).summarise(query, retrieve)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        (ModelFailed("upstream_timeout", "zebra"), "timeout"),
        (ModelFailed("upstream_rejected", "zebra"), "model_error"),
        (RuntimeError("zebra"), "model_error"),
        ("zebra", "malformed"),
        (json.dumps({"decision": "zebra"}), "unknown_decision"),
        (json.dumps({"decision": "answer", "summary": "7 of them"}), "repeats_documents"),
    ],
)
async def test_what_a_model_does_wrong_is_the_same_refusal(caplog: Any, does: Any, reason: str) -> None:
    """The log has the reason; the artifact does not tell whether a reply repeats a document or is malformed."""
    caplog.set_level("DEBUG")
    artifact = await summarise(Answering(does))
    told = "malformed" if reason in ("unknown_decision", "repeats_documents") else reason
    assert (artifact.decision, artifact.reason, artifact.confidence) == ("refuse", told, "low")
    assert f"'reason': '{reason}'" in caplog.text
    assert "zebra" not in caplog.text + artifact.render()


async def test_a_search_that_breaks_is_a_refusal_as_well(caplog: Any) -> None:
    models = Answering(ANSWER)
    artifact = await summarise(models, RuntimeError("zebra"))
    assert (artifact.reason, models.asked) == ("search_failed", [])
    assert "no search for a safe summary: RuntimeError" in caplog.text
    assert "zebra" not in caplog.text


@pytest.mark.parametrize(
    ("query", "summary"),
    [
        ("Was it 48151623?", "It was 48.151.623."),
        (
            "do they say that the northern depot was closed in spring",
            "That the northern depot was closed in spring.",
        ),
    ],
)
@pytest.mark.parametrize(
    "text", ["Something else.", "It was 48,151,623: that the northern depot was closed in spring"]
)
async def test_a_guess_is_refused_whether_or_not_the_documents_hold_it(
    query: str, summary: str, text: str
) -> None:
    found = Found([("b1", "Staff")], [Excerpt("d:0", text)])
    models = Answering(json.dumps({"decision": "answer", "summary": summary}))
    assert await summarise(models, found, query) == refusal(Failure.MALFORMED)


async def test_bases_without_text_ask_no_model() -> None:
    models = Answering(ANSWER)
    assert (await summarise(models, Found())).reason == "no_hits"
    assert models.asked == []


async def test_a_stop_is_no_failure() -> None:
    class Hanging:
        async def complete(self, _: Request) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    task = asyncio.create_task(summarise(Hanging()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_limits_on_excerpts_hold_for_the_request() -> None:
    models = Answering(ANSWER)
    assert (await summarise(models)).summary == "They are stones."
    [request] = models.asked
    sent, shown = (json.loads(messages[1].text) for messages in (request.messages, request.shown_messages))
    assert [chunk["chunk"] for chunk in sent["chunks"]] == list("ABCDEFGHIJKLMNOPQRSTUVWX")
    assert [chunk["id"] for chunk in shown["chunks"]] == [f"d{number}:0" for number in range(24)]
    assert shown["knowledge_bases"] == ["b1"]
    assert "zebra" not in str(shown)


def test_the_limit_of_a_model_is_kept() -> None:
    small = Model("m", "http://m.example/v1", max_output_tokens=100)
    assert build_request(small, "q", FOUND).model.max_output_tokens == 100
    assert build_request(SECONDARY.model, "q", FOUND).model.max_output_tokens == 4_096
