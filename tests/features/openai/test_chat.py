"""What a request for a chat completion is refused for."""

from typing import Any

import pytest

from chat.models import Scope, Session
from features.openai.chat_body import parse_messages
from features.openai.response_stream import failed_end
from tests.features.openai.test_models import by_token, refused

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = {"role": "user", "content": "Why?"}
ANSWER = {"role": "assistant", "content": "So."}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}


def post(client: Any, **body: Any) -> Any:
    body = {"model": "quick", "messages": [QUESTION], **body}
    return client.post("/v1/chat/completions", body, content_type="application/json")


def picture(part: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [part]}]}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"messages": "Why?"}, "messages", "invalid_type"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": ["Why?"]}, "messages.0", "invalid_type"),
        ({"messages": [ANSWER, QUESTION]}, "messages.0.role", "invalid_value"),
        ({"messages": [QUESTION, ANSWER]}, "messages", "invalid_value"),
        ({"messages": [{"role": "system", "content": "Be brief."}]}, "messages", "invalid_value"),
        ({"messages": [{"role": "tool", "content": "4"}]}, "messages.0.role", "invalid_value"),
        ({"messages": [{"role": "user"}]}, "messages.0.content", "invalid_type"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages.0.content", "message_empty"),
        (
            {"messages": [QUESTION, {**ANSWER, "tool_calls": [{}]}]},
            "messages.1.tool_calls.0.function",
            "invalid_value",
        ),
        ({"messages": [QUESTION, {**ANSWER, "function_call": {}}]}, "messages", "invalid_value"),
        (
            {"messages": [QUESTION, {"role": "tool", "tool_call_id": "c1", "content": "4"}]},
            "messages.1.tool_call_id",
            "invalid_value",
        ),
        ({"messages": [QUESTION, CALLING]}, "messages", "invalid_value"),
        ({"messages": [QUESTION, CALLING, QUESTION]}, "messages.2", "invalid_value"),
        (
            {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "messages.0.content.0.type",
            "invalid_value",
        ),
        (picture({"type": "image_url"}), "messages.0.content.0.image_url", "invalid_type"),
        (picture(image("https://a.example/b")), "messages.0.content.0.image_url.url", "invalid_value"),
        (picture(image("data:image/png;base64,?")), "messages.0.content.0.image_url.url", "invalid_value"),
        (picture(image("data:text/html;base64,YQ==")), "messages.0.content.0.image_url.url", "invalid_value"),
        (picture({"type": "file", "file": {}}), "messages.0.content.0.file.file_id", "invalid_id"),
        (
            picture({"type": "file", "file": {"file_data": "data:text/plain;base64,YQ=="}}),
            "messages.0.content.0.file.filename",
            "invalid_type",
        ),
        (
            {"messages": [*[{"role": "system", "content": "x" * 50_000}] * 2, QUESTION]},
            "messages",
            "invalid_value",
        ),
        ({"n": 2}, "n", "invalid_value"),
        ({"tools": [{"type": "function"}]}, "tools.0.function", "invalid_type"),
        ({"tools": [{"type": "custom"}]}, "tools.0.type", "invalid_value"),
        ({"functions": [{}]}, "functions", "invalid_value"),
        ({"presence_penalty": 0.5}, "presence_penalty", "option_unsupported"),
        ({"logprobs": True}, "logprobs", "option_unsupported"),
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"max_completion_tokens": 0, "max_tokens": 5}, "max_completion_tokens", "invalid_value"),
        ({"max_tokens": 0, "max_completion_tokens": -1}, "max_completion_tokens", "invalid_value"),
        ({"stop": 1}, "stop", "invalid_type"),
        ({"stop": ["a"] * 5}, "stop", "invalid_value"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_value"),
        ({"nothing": 1}, "nothing", "unknown_field"),
    ],
)
def test_a_request_is_refused_by_the_name_of_its_field(
    alice: Any, body: dict[str, Any], param: str, code: str
) -> None:
    refused(post(by_token(alice), **body), 400, code, param)
    assert not Session.objects.exists()


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_that_is_too_long_is_refused_wherever_it_stands(alice: Any, role: str) -> None:
    long = {"role": role, "content": "x" * 400_001}
    answer = post(by_token(alice), messages=[QUESTION, long, QUESTION])
    refused(answer, 413, "message_too_long", "messages.1.content")


def test_a_model_that_is_not_there_is_a_404(alice: Any) -> None:
    refused(post(by_token(alice), model="nothing"), 404, "model_not_found", "model")


def test_a_token_for_reading_completes_nothing(alice: Any) -> None:
    refused(post(by_token(alice, Scope.READ)), 403, "token_read_only")


def test_nothing_is_left_of_a_turn_that_is_refused(alice: Any, settings: Any) -> None:
    settings.MAX_RUNS_PER_USER = 0
    for messages in ([QUESTION], [QUESTION, ANSWER, QUESTION]):
        refused(post(by_token(alice), messages=messages), 429, "too_many_runs")
        assert not Session.objects.exists()


def test_consecutive_messages_of_a_role_are_one() -> None:
    system = {"role": "system", "content": "Be brief."}
    parsed = parse_messages([system, QUESTION, QUESTION, ANSWER, system, ANSWER, QUESTION])
    assert parsed.instructions == ["Be brief.", "Be brief."]
    [before, asked] = parsed.conversation.exchanges
    assert (before.question, before.answer) == ("Why?\n\nWhy?", "So.\n\nSo.")
    assert (asked.question, asked.rounds, asked.answer) == ("Why?", [], "")


@pytest.mark.parametrize("content", ["", " \n", None, []])
def test_an_answer_without_text_is_passed_over(content: Any) -> None:
    parsed = parse_messages([QUESTION, {"role": "assistant", "content": content}, QUESTION])
    [asked] = parsed.conversation.exchanges
    assert (asked.question, asked.rounds, asked.answer) == ("Why?\n\nWhy?", [], "")


@pytest.mark.parametrize(
    "answer", [{"content": [{"type": "refusal", "refusal": "No."}]}, {"content": None, "refusal": "No."}]
)
def test_what_a_model_refused_is_its_answer(answer: dict[str, Any]) -> None:
    parsed = parse_messages([QUESTION, {"role": "assistant", **answer}, QUESTION])
    assert [exchange.answer for exchange in parsed.conversation.exchanges] == ["No.", ""]


@pytest.mark.parametrize("code", ["context_too_long", "prompt_too_long", "tools_too_long"])
def test_what_is_too_long_is_an_error_in_words_that_clients_search_for(code: str) -> None:
    """LiteLLM and LangChain raise exceptions of their own then, and LibreChat sends less."""
    assert (
        "This model's maximum context length is "
        in failed_end(code, "Shorten it.").members["error"]["message"]
    )
