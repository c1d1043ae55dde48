"""llm.py against a scripted model server: requests, deltas, and the many ways in which servers deviate or fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import pytest

from chat.transcript.usage import TokenUsage
from llm_worker.request.model_message import Message
from llm_worker.upstream.chat_completion import Completion
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from tests.upstream import Upstream

QUESTION = [Message("S", "Be brief."), Message("U", "Why?")]
ANSWER = {"text": "Because."}
MISREAD = {
    "error": {"message": "Failed to call a function. Please adjust your prompt.", "code": "tool_use_failed"}
}


@pytest.fixture
async def models() -> AsyncIterator[LanguageModels]:
    models = LanguageModels(connections=10, silence_s=3, first_retry_s=0.001)
    yield models
    await models.close()


def request(upstream: Upstream, **more: object) -> Request:
    return Request(Model("scripted", upstream.base_url, **more), QUESTION, cache_key="session-1")


async def answer(models: LanguageModels, asked: Request) -> list[Delta]:
    """Texts that follow each other as one, however the network cut them."""
    received: list[Delta] = []
    async for deltas in models.stream(asked):
        for delta in deltas:
            if (
                received
                and type(received[-1]) is type(delta)
                and isinstance(delta, TextDelta | ReasoningDelta)
            ):
                delta = type(delta)(received.pop()[0] + delta.text)  # noqa: PLW2901
            received.append(delta)
    return received


async def test_a_request_carries_the_messages_the_key_and_asks_for_usage(models, upstream):
    await answer(models, request(upstream, api_key="secret", max_output_tokens=99))
    [received] = upstream.requests
    assert received.body == {
        "model": "scripted",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
        "max_tokens": 99,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert received.headers["Authorization"] == "Bearer secret"


async def test_without_a_limit_the_request_leaves_the_length_to_the_server(models, upstream):
    await answer(models, request(upstream))
    assert not {"max_tokens", "max_completion_tokens"} & set(upstream.requests[0].body)


async def test_the_session_is_the_cache_key_if_the_server_supports_one(models, upstream):
    await answer(models, request(upstream, takes_prompt_cache_key=True))
    assert upstream.requests[0].body["prompt_cache_key"] == "session-1"


async def test_text_reasoning_usage_and_the_end_are_parsed_into_deltas(models, upstream):
    upstream.reply(
        {"delta": {"role": "assistant", "content": ""}},
        {"reasoning": "One form. "},
        {"reasoning": "Another.", "field": "reasoning"},
        {"text": "Hi"},
        {"text": " 🌊"},
        {
            "usage": {
                "prompt_tokens": 40,
                "completion_tokens": 12,
                "prompt_tokens_details": {"cached_tokens": 32},
                "completion_tokens_details": {"reasoning_tokens": 5},
            }
        },
    )
    assert await answer(models, request(upstream)) == [
        ReasoningDelta("One form. Another."),
        TextDelta("Hi 🌊"),
        Finished("stop"),
        TokenUsage(40, 12, 32, 5),
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param('data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n', "\ud83d", id="half an emoji"),
        pytest.param('data: {"choices":[{"delta":{"content":"\ud83d"}}]}\n\n', "���", id="not UTF-8"),
        pytest.param('data: {"choices":[{"delta":{"content":"a"}}]}\r\n\r\n', "a", id="CR LF"),
        pytest.param(': ping\n\nevent: x\ndata:{"choices":[{"delta":{"content":"a"}}]}\n\n', "a", id="noise"),
        pytest.param('data: {"choices":[{"delta":\ndata: {"content":"a"}}]}\n\n', "a", id="two data lines"),
    ],
)
async def test_unusual_streams_are_parsed(models, upstream, raw, text):
    upstream.reply({"raw": raw})
    assert await answer(models, request(upstream)) == [TextDelta(text), Finished("stop"), TokenUsage(7, 0)]


async def test_a_finish_reason_ends_the_answer_without_done(models, upstream):
    chunk = {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}
    upstream.reply({"chunk": chunk}, {"finish": None})
    assert await answer(models, request(upstream)) == [TextDelta("a"), Finished("stop")]


async def test_a_connection_lost_after_done_does_not_fail_the_answer(models, upstream):
    finish = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    upstream.reply(ANSWER, {"chunk": finish}, {"raw": "data: [DONE]\n\n"}, {"eof": "close"})
    assert await answer(models, request(upstream)) == [TextDelta("Because."), Finished("stop")]


async def test_connections_are_reused(models, upstream):
    for _ in range(3):
        await answer(models, request(upstream))
    assert upstream.connections == 1


@pytest.mark.parametrize(
    ("step", "code", "requests"),
    [
        pytest.param({"status": 401}, "upstream_auth", 1, id="401"),
        pytest.param({"status": 403}, "upstream_auth", 1, id="403"),
        pytest.param({"status": 400}, "upstream_rejected", 1, id="400"),
        pytest.param({"status": 404}, "model_not_found", 1, id="404"),
        pytest.param(
            {"status": 400, "body": {"error": {"code": "context_length_exceeded", "message": "x"}}},
            "context_too_long", 1, id="context_length_exceeded",
        ),
        pytest.param(
            {"status": 400, "body": {"detail": "maximum context length is 9 tokens"}}, "context_too_long", 1, id="too long",
        ),
        pytest.param(
            {"status": 500, "body": {"error": "context length exceeded"}}, "context_too_long", 1, id="500, too long",
        ),
        pytest.param({"status": 402}, "upstream_quota", 1, id="402"),
        pytest.param(
            {"status": 429, "body": {"error": {"code": "insufficient_quota", "message": "x"}}},
            "upstream_quota", 1, id="429 without budget",
        ),
        pytest.param(
            {"status": 429, "body": {"error": {"code": "1113", "message": "Insufficient balance. Please recharge."}}},
            "upstream_quota", 1, id="429 of an empty account",
        ),
        pytest.param({"status": 400, "body": MISREAD}, "upstream_rejected", 2, id="calls that Groq cannot read"),
        pytest.param({"chunk": MISREAD}, "upstream_interrupted", 2, id="the same in the stream"),
        pytest.param({"status": 529}, "upstream_unavailable", 3, id="529"),
        pytest.param({"status": 408}, "upstream_timeout", 1, id="408"),
        pytest.param({"status": 429}, "upstream_rate_limited", 3, id="429"),
        pytest.param({"status": 429, "retry_after": 0.01}, "upstream_rate_limited", 3, id="429 for a moment"),
        pytest.param({"status": 429, "retry_after": 600}, "upstream_rate_limited", 1, id="429 for minutes"),
        pytest.param({"status": 429, "retry_after": "soon"}, "upstream_rate_limited", 3, id="429 for nonsense"),
        pytest.param({"status": 500}, "upstream_unavailable", 3, id="500"),
        pytest.param({"status": 501}, "upstream_unavailable", 1, id="501"),
        pytest.param({"status": 502}, "upstream_unavailable", 3, id="502"),
        pytest.param({"status": 503}, "upstream_unavailable", 3, id="503"),
        pytest.param({"status": 504}, "upstream_timeout", 1, id="504"),
        pytest.param({"eof": "abort"}, "upstream_unavailable", 3, id="reset before the first chunk"),
        pytest.param({"eof": "close"}, "upstream_unavailable", 3, id="EOF before the first chunk"),
        pytest.param({"finish": None}, "upstream_interrupted", 3, id="an empty body"),
        pytest.param({"raw": "data: {nonsense\n\n"}, "upstream_malformed", 1, id="not JSON"),
        pytest.param({"raw": 'data: 7\n\n', "finish": None}, "upstream_malformed", 1, id="not a chunk"),
        pytest.param({"raw": "data: " + "[" * 100_000 + "\n\n"}, "upstream_malformed", 1, id="nested too deep"),
        pytest.param({"long_line": 10 * 1024 * 1024}, "upstream_malformed", 1, id="10 MB of one line"),
        pytest.param({"chunk": {"error": {"message": "out of memory"}}}, "upstream_interrupted", 1, id="error"),
        pytest.param({"chunk": {"error": {"message": "x", "code": 429}}}, "upstream_rate_limited", 3, id="429 in the stream"),
        pytest.param({"raw": 'error: {"code":500,"message":"CUDA"}\n\n'}, "upstream_interrupted", 1, id="older llama.cpp"),
    ],
)  # fmt: skip
async def test_failures_before_the_first_chunk_are_retried_by_kind(models, upstream, step, code, requests):
    upstream.reply(step)
    with pytest.raises(ModelFailed) as failed:
        await answer(models, request(upstream, api_key="sk-secret"))
    assert failed.value.code == code
    assert len(upstream.requests) == requests
    assert "sk-secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("step", "code"),
    [
        pytest.param({"eof": "abort"}, "upstream_interrupted", id="reset"),
        pytest.param({"eof": "close"}, "upstream_interrupted", id="EOF"),
        pytest.param({"finish": None}, "upstream_interrupted", id="an end without finish_reason"),
        pytest.param({"hang": True}, "upstream_timeout", id="silence"),
        pytest.param({"raw": "data: {nonsense\n\n"}, "upstream_malformed", id="not JSON"),
        pytest.param({"long_line": 10 * 1024 * 1024}, "upstream_malformed", id="10 MB of one line"),
        pytest.param({"chunk": {"error": {"message": "out of memory"}}}, "upstream_interrupted", id="error"),
        pytest.param({"chunk": {"error": {"code": 503}}}, "upstream_unavailable", id="overloaded"),
        pytest.param({"chunk": {"error": "prompt is too long"}}, "context_too_long", id="too long"),
    ],
)
async def test_failures_after_the_first_chunk_are_not_retried(models, upstream, step, code):
    upstream.reply(ANSWER, step)
    received: list[Delta] = []

    async def read() -> None:
        async for deltas in models.stream(request(upstream)):
            received.extend(deltas)

    with pytest.raises(ModelFailed) as failed:
        await read()
    assert (failed.value.code, received, len(upstream.requests)) == (code, [TextDelta("Because.")], 1)


@pytest.mark.parametrize(
    "step", [{"status": 503}, {"status": 429, "retry_after": 0.01}, {"eof": "abort"}, {"hang": True}]
)
async def test_a_transient_failure_is_retried(models, upstream, step):
    upstream.reply(step, times=2)
    upstream.reply(ANSWER)
    assert (await answer(models, request(upstream)))[0] == TextDelta("Because.")


async def test_a_server_that_cannot_read_the_calls_of_its_model_is_asked_once_more(models, upstream):
    upstream.reply({"status": 400, "body": MISREAD}, times=1)
    upstream.reply(ANSWER)
    assert (await answer(models, request(upstream)))[0] == TextDelta("Because.")


async def test_a_refused_connection_is_unreachable(models):
    with pytest.raises(ModelFailed, match="upstream_unreachable"):
        await answer(models, Request(Model("scripted", "http://127.0.0.1:9/v1"), QUESTION))


async def test_an_invalid_address_is_unreachable(models):
    with pytest.raises(ModelFailed, match="upstream_unreachable"):
        await answer(models, Request(Model("scripted", "http://[broken/v1"), QUESTION))


async def test_a_host_without_a_valid_name_is_unreachable(models):
    with pytest.raises(ModelFailed, match="upstream_unreachable"):
        await answer(models, Request(Model("scripted", "http://nowhere.invalid/v1"), QUESTION))


async def test_a_server_that_does_not_speak_tls_is_unreachable(models, upstream):
    with pytest.raises(ModelFailed, match="upstream_unreachable"):
        await answer(models, Request(Model("scripted", upstream.base_url.replace("http", "https")), QUESTION))


async def test_a_failure_tells_status_code_and_words_of_the_server_without_the_key(models, upstream):
    message = "Invalid \x00'beta' for key-of-ours-123456 (sk-other12345)"
    upstream.reply({"status": 400, "body": {"error": {"code": "bad_beta", "message": message}}})
    with pytest.raises(ModelFailed) as failed:
        await answer(models, request(upstream, api_key="key-of-ours-123456"))
    assert failed.value.upstream_error == (400, "bad_beta", "Invalid 'beta' for [redacted] ([redacted])")


async def test_an_error_response_that_does_not_end_is_read_in_part(models):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"1000\r\n" + b"very wrong " * 372 + b"long\r\n")
                await writer.drain()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ModelFailed) as failed:
            await answer(models, Request(Model("scripted", f"http://127.0.0.1:{port}/v1"), QUESTION))
    assert (failed.value.code, failed.value.status) == ("upstream_rejected", 400)
    assert len(failed.value.detail) == 2_000


async def test_a_refusal_is_shown_with_its_finish_reason(models, upstream):
    upstream.reply({"refusal": "I would rather not."})
    deltas = await answer(models, request(upstream))
    assert deltas[:3] == [TextDelta("I would rather not."), Finished("refusal"), Finished("content_filter")]


async def test_closing_the_stream_closes_the_connection(models, upstream):
    upstream.reply(ANSWER, {"hang": True})
    stream = models.stream(request(upstream))
    assert await anext(stream) == [TextDelta("Because.")]
    await stream.aclose()
    await asyncio.to_thread(upstream.wait_for, lambda: upstream.requests[0].ended == "disconnected")


WHOLE = {"stream": False}


async def test_complete_returns_the_whole_answer(models, upstream):
    usage = {"prompt_tokens": 40, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 32}}
    upstream.reply({"text": "Because"}, {"text": "."}, {"usage": usage, "finish": "length"}, **WHOLE)
    asked = request(upstream, api_key="secret", max_output_tokens=9)
    assert await models.complete(asked) == Completion("Because.", "length", TokenUsage(40, 12, 32))
    [received] = upstream.asides
    assert received.body == {
        "model": "scripted",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
        "max_tokens": 9,
        "stream": False,
    }
    assert received.headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("steps", "completion"),
    [
        pytest.param([{"refusal": "No."}], Completion("No.", "refusal"), id="a refusal"),
        pytest.param([{"raw": '{"choices":[{"message":{"content":null}}]}'}], Completion(""), id="no text"),
        pytest.param(
            [{"raw": '{"choices":[{"message":{"content":"\\ud83d"}}],"usage":null}'}],
            Completion("\ud83d"), id="half an emoji",
        ),
    ],
)  # fmt: skip
async def test_unusual_completions_are_parsed(models, upstream, steps, completion):
    upstream.reply(*steps, {"usage": {}}, **WHOLE)
    assert await models.complete(request(upstream)) == completion


@pytest.mark.parametrize(
    ("step", "code", "requests"),
    [
        pytest.param({"status": 401}, "upstream_auth", 1, id="401"),
        pytest.param({"status": 400}, "upstream_rejected", 1, id="400"),
        pytest.param({"status": 429, "retry_after": 0.01}, "upstream_rate_limited", 3, id="429"),
        pytest.param({"status": 429, "retry_after": 600}, "upstream_rate_limited", 1, id="429 for minutes"),
        pytest.param({"status": 503}, "upstream_unavailable", 3, id="503"),
        pytest.param({"eof": "abort"}, "upstream_unavailable", 3, id="reset"),
        pytest.param({"raw": "{nonsense"}, "upstream_malformed", 1, id="not JSON"),
        pytest.param({"raw": '{"choices": []}'}, "upstream_malformed", 1, id="no answer in it"),
        pytest.param({"raw": "[" * 100_000}, "upstream_malformed", 1, id="nested too deep"),
        pytest.param({"raw": " " * 9 * 1024 * 1024}, "upstream_malformed", 1, id="9 MB"),
        pytest.param({"raw": '{"error": {"message": "full"}}'}, "upstream_interrupted", 1, id="error"),
    ],
)
async def test_failures_of_a_completion_have_a_code_and_are_retried_by_kind(
    models, upstream, step, code, requests
):
    upstream.reply(step, **WHOLE)
    with pytest.raises(ModelFailed) as failed:
        await models.complete(request(upstream, api_key="sk-secret"))
    assert (failed.value.code, len(upstream.asides)) == (code, requests)
    assert "sk-secret" not in str(failed.value)


async def test_a_transient_failure_of_a_completion_is_retried(models, upstream):
    upstream.reply({"status": 503}, times=2, **WHOLE)
    upstream.reply(ANSWER, **WHOLE)
    assert (await models.complete(request(upstream))).text == "Because."


async def test_a_temperature_is_sent_only_if_it_is_set(models, upstream):
    upstream.reply(ANSWER, stream=False)
    await models.complete(replace(request(upstream), options={"temperature": 0.1}))
    await models.complete(request(upstream))
    first, second = (received.body for received in upstream.asides)
    assert first["temperature"] == 0.1
    assert "temperature" not in second


async def test_a_silent_server_is_asked_again_unless_the_request_says_no(upstream):
    models = LanguageModels(connections=10, silence_s=0.2, first_retry_s=0.001)
    upstream.reply({"hang": True}, stream=False)
    asked = request(upstream, api_key="sk-secret")
    for each, sent in ((replace(asked, retries_timeouts=False), 1), (asked, 3)):
        upstream.asides.clear()
        with pytest.raises(ModelFailed) as failed:
            await models.complete(each)
        assert (failed.value.code, len(upstream.asides)) == ("upstream_timeout", sent)
        assert "sk-secret" not in str(failed.value)
    await models.close()


async def test_a_server_that_is_silent_before_the_first_chunk_is_asked_three_times(upstream):
    models = LanguageModels(connections=10, silence_s=0.5, first_retry_s=0.001)
    upstream.reply({"hang": True})
    with pytest.raises(ModelFailed) as failed:
        await answer(models, request(upstream, api_key="sk-secret"))
    assert (failed.value.code, len(upstream.requests)) == ("upstream_timeout", 3)
    assert "sk-secret" not in str(failed.value)
    await models.close()


async def test_what_a_server_quotes_of_a_protected_request_is_in_no_error_and_no_log(
    models, upstream, caplog, settings
):
    settings.LOG_LLM_REQUESTS = True
    caplog.set_level("DEBUG")
    quoting = {"status": 500, "body": {"error": {"message": "cannot read: zebra quartz", "code": "zebra"}}}
    upstream.reply(quoting, times=1, stream=False)
    upstream.reply({"text": "zebra quartz"}, times=1, stream=False)
    upstream.reply(quoting | {"status": 400}, stream=False)
    said = [Message("U", "zebra quartz")]
    protected = replace(request(upstream), messages=said, shown=[Message("U", "(12 characters)")])
    assert (await models.complete(protected)).text == "zebra quartz"
    with pytest.raises(ModelFailed) as failed:
        await models.complete(protected)
    assert [received.messages[0]["content"] for received in upstream.asides] == ["zebra quartz"] * 3
    assert str(failed.value) == "upstream_rejected: "
    assert "(12 characters)" in caplog.text
    assert "zebra" not in caplog.text
