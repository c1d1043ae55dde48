"""What a request for a response is refused for, and what it stores."""

from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from chat.models import (
    Agent,
    ChatMessage,
    ModelConfig,
    Preferences,
    Run,
    Scope,
    Session,
    ToolCall,
    ToolCallImage,
)
from chat.sessions.deletion import delete_for_good
from features.openai import responses, turns
from features.openai.models import ResponseRequest
from knowledge.models import File
from tests import factories
from tests.features.openai.test_models import by_token, refused

pytestmark = pytest.mark.django_db(transaction=True)


def post(client: Any, **body: Any) -> Any:
    body = {"input": "Why two tides?", "background": True, **body}
    return client.post("/v1/responses", body, content_type="application/json")


FUNCTION = {"type": "function", "name": "f"}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Rain"}


def messages(*contents: Any, role: str = "user") -> list[dict[str, Any]]:
    return [{"role": role, "content": content} for content in contents]


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"input": None}, "input", "invalid_type"),
        ({"input": ""}, "input", "message_empty"),
        ({"input": []}, "input", "message_empty"),
        ({"input": {"role": "user"}}, "input", "invalid_type"),
        ({"input": ["text"]}, "input.0", "invalid_type"),
        ({"input": [{"role": "user"}]}, "input.0.content", "field_required"),
        ({"input": messages("Hm", role="assistant")}, "input.0.role", "invalid_value"),
        ({"input": messages("Hm", role="tool")}, "input.0.role", "invalid_value"),
        ({"input": messages("Hm", 1)}, "input.1.content", "invalid_type"),
        ({"input": [{"type": "computer_call_output"}]}, "input.0.type", "invalid_value"),
        ({"input": [{"type": "function_call_output"}]}, "input.0.call_id", "invalid_type"),
        ({"input": [OUTPUT]}, "input", "invalid_value"),
        ({"input": [OUTPUT, OUTPUT]}, "input.1.call_id", "invalid_value"),
        ({"input": [*messages("Hm"), OUTPUT]}, "input.1.call_id", "invalid_value"),
        ({"input": [OUTPUT, *messages("Hm")]}, "input", "invalid_value"),
        ({"input": [CALL, OUTPUT]}, "input.0.role", "invalid_value"),
        ({"input": [*messages("Hm"), CALL]}, "input", "invalid_value"),
        ({"input": [*messages("Hm"), CALL, *messages("Well?")]}, "input.2", "invalid_value"),
        ({"input": [*messages("Hm"), {**CALL, "arguments": "[]"}]}, "input.1.arguments", "invalid_type"),
        ({"input": [*messages("Hm"), {**CALL, "arguments": {}}]}, "input.1.arguments", "invalid_type"),
        ({"input": [*messages("Hm"), {**CALL, "arguments": '{"a": "\\u0000"}'}]}, "input.1.arguments", "invalid_characters"),
        ({"input": [*messages("Hm"), {**CALL, "call_id": ""}]}, "input.1.call_id", "invalid_value"),
        ({"input": messages([{"type": "input_text"}])}, "input.0.content.0.text", "invalid_type"),
        ({"input": messages([{"type": "input_audio"}])}, "input.0.content.0.type", "invalid_value"),
        (
            {"input": messages([{"type": "input_image", "image_url": "https://a.example/b"}])},
            "input.0.content.0.image_url",
            "invalid_value",
        ),
        ({"input": messages([{"type": "input_file", "file_data": "data:text/plain;base64,YQ=="}])}, "input.0.content.0.filename", "invalid_type"),
        ({"input": messages([{"type": "input_image", "image_url": "data:image/PNG;base64,é"}])}, "input.0.content.0.image_url", "invalid_value"),
        ({"input": messages([{"type": "input_image", "file_id": "x"}], role="developer")}, "input.0.content.0.type", "invalid_value"),
        ({"input": messages([{"type": "input_file", "file_url": "https://a.example/b"}])}, "input.0.content.0.file_url", "invalid_value"),
        ({"input": messages([{"type": "input_file", "file_id": "x"}])}, "input.0.content.0.file_id", "invalid_id"),
        ({"tools": ["f"]}, "tools.0", "invalid_type"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type", "invalid_value"),
        ({"tools": [{"type": "function"}]}, "tools.0.name", "invalid_value"),
        ({"tools": [{**FUNCTION, "name": "a b"}]}, "tools.0.name", "invalid_value"),
        ({"tools": [{**FUNCTION, "description": 1}]}, "tools.0.description", "invalid_value"),
        ({"tools": [{**FUNCTION, "parameters": {"type": "array"}}]}, "tools.0.parameters", "invalid_value"),
        ({"tools": [{**FUNCTION, "strict": "yes"}]}, "tools.0.strict", "invalid_type"),
        ({"tools": [FUNCTION, FUNCTION]}, "tools", "invalid_value"),
        ({"tools": [FUNCTION], "tool_choice": {"type": "function", "name": "g"}}, "tool_choice", "invalid_value"),
        ({"nothing": 1}, "nothing", "unknown_field"),
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"top_p": "high"}, "top_p", "invalid_type"),
        ({"top_p": 10**400}, "top_p", "invalid_value"),
        ({"max_output_tokens": 0}, "max_output_tokens", "invalid_value"),
        ({"max_output_tokens": 10**9}, "max_output_tokens", "option_unsupported"),
        ({"reasoning": {"effort": "extreme"}}, "reasoning.effort", "invalid_value"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value"),
        ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text.format.schema", "field_required"),
        ({"instructions": "x" * 100_001}, "instructions", "invalid_value"),
        ({"instructions": "x" * 50_000, "input": messages("x" * 50_000, role="system")}, "instructions", "invalid_value"),
        ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata", "invalid_value"),
        ({"metadata": {"a": "x" * 513}}, "metadata.a", "invalid_value"),
        ({"store": False}, "store", "invalid_value"),
        ({"store": False, "background": False, "previous_response_id": "resp_1"}, "store", "invalid_value"),
        ({"conversation": "conv_1", "previous_response_id": "resp_1"}, "conversation", "invalid_value"),
        ({"conversation": 1}, "conversation", "invalid_type"),
        ({"stream": "yes"}, "stream", "invalid_type"),
    ],
)  # fmt: skip
def test_a_request_is_refused_by_the_name_of_its_field(
    alice: Any, body: dict[str, Any], param: str, code: str
) -> None:
    refused(post(by_token(alice), **body), 400, code, param)
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"model": "nothing"}, "model", "model_not_found"),
        ({"model": "agent/pilot"}, "model", "model_not_found"),
        ({"previous_response_id": "resp_1"}, "previous_response_id", "previous_response_not_found"),
        ({"previous_response_id": f"resp_{'0' * 32}"}, "previous_response_id", "previous_response_not_found"),
        ({"conversation": {"id": f"conv_{'0' * 32}"}}, "conversation", "not_found"),
    ],
)
def test_what_is_not_there_is_a_404(alice: Any, body: dict[str, Any], param: str, code: str) -> None:
    Agent.objects.create(owner=factories.create_user("bob"), name="Pilot")
    refused(post(by_token(alice), **body), 404, code, param)
    assert not Session.objects.exists()


def test_a_file_of_another_user_is_not_found(alice: Any) -> None:
    theirs = File.objects.create(
        owner=factories.create_user("bob"), name="a.txt", status="ready", text="Two."
    )
    content = [{"type": "input_text", "text": "What?"}, {"type": "input_file", "file_id": str(theirs.pk)}]
    refused(post(by_token(alice), input=messages(content)), 404, "file_not_found", "input")
    assert not Session.objects.exists()


def test_a_token_for_reading_asks_for_nothing(alice: Any) -> None:
    refused(post(by_token(alice, Scope.READ)), 403, "token_read_only")


def test_messages_of_a_request_are_one_question_with_files_and_instructions(alice: Any) -> None:
    client = by_token(alice)
    file = File.objects.create(owner=alice, name="tides.txt", status="ready", text="Two.", token_count=1)
    content = [{"type": "input_text", "text": "Which?"}, {"type": "input_file", "file_id": str(file.pk)}]
    asked = [*messages("Be kind.", role="developer"), *messages("First.", content)]
    answer = post(client, input=asked, instructions="Be brief.", metadata={"app": "pier"}).json()
    assert (answer["status"], answer["background"], answer["model"]) == ("queued", True, "quick")
    assert (answer["instructions"], answer["metadata"]) == ("Be brief.\n\nBe kind.", {"app": "pier"})
    question = ChatMessage.objects.get(role="user")
    assert question.text == "First.\n\nWhich?"
    items = client.get(f"/v1/responses/{answer['id']}/input_items").json()["data"]
    assert items[0]["content"] == [
        {"type": "input_text", "text": "First.\n\nWhich?"},
        {"type": "input_file", "file_id": str(file.pk), "filename": "tides.txt"},
    ]


def test_an_agent_answers_its_conversation_and_no_other_agent_does(alice: Any) -> None:
    for name in ("Pilot", "Cook"):
        Agent.objects.create(owner=alice, name=name)
    client = by_token(alice)
    first = post(client, model="agent/pilot").json()
    assert first["model"] == "agent/pilot"
    [session] = Session.objects.all()
    assert session.agent is not None
    assert session.agent.name == "Pilot"
    conversation = first["conversation"]
    refused(post(client, model="agent/cook", conversation=conversation), 400, "invalid_value", "model")
    assert post(client, model="agent/pilot", conversation=conversation).status_code == 200
    assert post(client, conversation=conversation["id"]).status_code == 200


@pytest.mark.parametrize("chooses", ["user", "agent", "session"])
def test_the_first_usable_of_several_chosen_models_answers(alice: Any, chooses: str) -> None:
    several = ["gone", "deep", "quick"]
    agent = Agent.objects.create(owner=alice, name="Pilot", models=several if chooses == "agent" else [])
    if chooses == "user":
        Preferences.objects.change(alice, models=several)
    session = Session.objects.start(alice, models=several if chooses == "session" else [], agent=agent)
    client = by_token(alice)
    for more in ({"model": "agent/pilot"}, {"conversation": f"conv_{session.pk.hex}"}):
        assert post(client, **more).status_code == 200
    chat = {"model": "agent/pilot", "messages": messages("Why?"), "stream": True}
    client.post("/v1/chat/completions", chat, content_type="application/json").close()
    expected = ["quick", "deep", "quick"] if chooses == "session" else ["deep"] * 3
    assert [run.model for run in Run.objects.order_by("created_at")] == expected


def test_options_are_those_of_the_run(alice: Any) -> None:
    form = {"type": "json_schema", "name": "tide", "schema": {"type": "object"}, "strict": True}
    options = {"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 50, "parallel_tool_calls": False}
    answer = post(by_token(alice), **options, text={"format": form}, reasoning={"effort": "low"}).json()
    run = Run.objects.get()
    assert {name: run.options[name] for name in options} == options
    assert run.options["reasoning_effort"] == "low"
    assert answer["text"] == {"format": form}
    assert {name: answer[name] for name in options} == options


def test_an_answer_of_the_page_is_a_response_too(alice: Any) -> None:
    api, session = factories.api_client(alice), str(Session.objects.start(alice).pk)
    run = factories.complete_turn(api, session, "Why two tides?")["runs"][0]["id"]
    name = f"resp_{run.replace('-', '')}"
    client = by_token(alice)
    answer = client.get(f"/v1/responses/{name}").json()
    assert (answer["id"], answer["status"], answer["metadata"]) == (name, "completed", {})
    continued = post(client, previous_response_id=name).json()
    assert continued["previous_response_id"] == name
    assert ResponseRequest.objects.count() == 1


def test_a_deleted_session_has_no_responses(alice: Any) -> None:
    client = by_token(alice)
    name = post(client).json()["id"]
    assert client.delete(f"/v1/responses/{name}").json() == {
        "id": name,
        "object": "response",
        "deleted": True,
    }
    refused(client.get(f"/v1/responses/{name}"), 404, "not_found")
    refused(client.post(f"/v1/responses/{name}/cancel"), 404, "not_found")
    assert not Session.objects.exists()


def test_an_answer_in_progress_is_deleted_only_with_its_chat(alice: Any) -> None:
    client = by_token(alice)
    first = post(client).json()
    factories.finish_run(str(Run.objects.get().pk))
    second = post(client, previous_response_id=first["id"]).json()
    refused(client.delete(f"/v1/responses/{second['id']}"), 409, "turn_in_progress")
    assert client.delete(f"/v1/responses/{first['id']}").status_code == 200
    assert not Session.objects.exists()


@pytest.mark.parametrize("is_chat", [False, True])
def test_no_error_leaves_an_empty_chat(alice: Any, monkeypatch: pytest.MonkeyPatch, is_chat: bool) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("The database is away")

    monkeypatch.setattr(turns, "start_turn", fail)
    client = by_token(alice)
    if not is_chat:
        refused(post(client), 503, "unavailable")
    else:
        body = {"model": "quick", "messages": messages("Why?"), "store": True}
        refused(
            client.post("/v1/chat/completions", body, content_type="application/json"), 503, "unavailable"
        )
    assert not Session.objects.exists()


def test_what_is_deleted_while_it_is_asked_for_is_not_found(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_token(alice)

    def gone(call: Any) -> Any:
        def run_then_delete(*args: Any, **kwargs: Any) -> Any:
            result = call(*args, **kwargs)
            for session in Session.objects.all():
                delete_for_good(session)
            return result

        return run_then_delete

    with monkeypatch.context() as patched:
        patched.setattr(turns, "start_turn", gone(turns.start_turn))
        refused(post(client), 404, "not_found")
    name = post(client).json()["id"]
    monkeypatch.setattr(responses, "find_response", gone(responses.find_response))
    refused(
        post(client, previous_response_id=name), 404, "previous_response_not_found", "previous_response_id"
    )


def test_a_run_is_deleted_by_a_version_that_does_not_know_its_response(alice: Any) -> None:
    assert post(by_token(alice)).status_code == 200
    deleted = Run.objects.filter(pk=ResponseRequest.objects.get().run_id)
    deleted._raw_delete(deleted.db)
    assert not ResponseRequest.objects.exists()


def test_items_of_earlier_responses_may_be_named_instead_of_told(alice: Any) -> None:
    client = by_token(alice)
    name = post(client, tools=[FUNCTION]).json()["id"]
    factories.finish_run(str(Run.objects.get().pk), "Two tides.")
    item = client.get(f"/v1/responses/{name}").json()["output"][-1]["id"]
    named = {"type": "item_reference", "id": item}
    assert post(client, input=[*messages("Why?"), named, *messages("And now?")]).status_code == 200
    assert list(ChatMessage.objects.branch_to(Run.objects.latest("created_at").message).values_list("text", flat=True)) == [
        "", "Why?", "Two tides.", "And now?", "",
    ]  # fmt: skip
    for unknown in (f"{item[:-1]}9", f"msg_{'0' * 36}", "msg_1", None):
        asked = [*messages("Why?"), {**named, "id": unknown}, *messages("And now?")]
        refused(post(client, input=asked), 404, "not_found", "input.1.id")
    bob = by_token(factories.create_user("bob"))
    refused(post(bob, input=[*messages("Why?"), named]), 404, "not_found", "input.1.id")


def test_a_turn_that_is_refused_keeps_no_file_of_its_request(
    alice: Any, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    url = "data:text/plain;base64,VHdvIHRpZGVzLg=="
    content = [
        {"type": "input_text", "text": "Why?"},
        {"type": "input_file", "filename": "a.txt", "file_data": url},
        {"type": "input_image", "image_url": url.replace("text/plain", "image/png")},
    ]
    refused(post(by_token(alice), input=messages(content)), 415, "file_type_mismatch", "input")
    assert not File.objects.exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_turn_that_is_refused_keeps_the_files_of_the_user(alice: Any) -> None:
    file = File.objects.create(owner=alice, name="a.txt", status="ready", text="Two.", token_count=1)
    content = [{"type": "input_text", "text": "Why?"}, {"type": "input_file", "file_id": str(file.pk)}]
    asked = [*messages(content), *messages("So.", role="assistant"), *messages("And now?")]
    ModelConfig.objects.update(supports_tools=False)
    refused(post(by_token(alice), input=asked, tools=[FUNCTION]), 400, "option_unsupported", "tools")
    assert File.objects.filter(pk=file.pk).exists()
    assert not Session.objects.exists()
    assert post(by_token(alice), input=asked).status_code == 200
    assert file.messages.get().message.text == "Why?"


def test_items_are_as_long_together_as_a_request(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = by_token(alice)
    name = post(client).json()["id"]
    factories.finish_run(str(Run.objects.get().pk), "Two tides a day. " * 8_000)
    item = client.get(f"/v1/responses/{name}").json()["output"][-1]["id"]
    named = {"type": "item_reference", "id": item}
    assert post(client, input=[*messages("Why?"), named, *messages("And now?")]).status_code == 200
    monkeypatch.setattr(responses, "MAX_BODY_BYTES", 200_000)
    asked = [*messages("Why?"), named, *messages("And?"), named, *messages("And now?")]
    refused(post(client, input=asked), 413, "body_too_large", "input.3.id")


def test_the_next_answer_has_images_and_inner_calls_of_the_rounds_before(alice: Any) -> None:
    """The model has seen them: what it writes next is about the same."""
    client = by_token(alice)
    name = post(client, tools=[FUNCTION]).json()["id"]
    run = factories.finish_run(str(Run.objects.get().pk))
    call = partial(ToolCall.objects.create, run=run, status="completed")
    agent = call(message=run.message, turn_number=0, tool_call_id="c0", name="research_agent")
    inner = call(parent_tool_call=agent, turn_number=0, tool_call_id="i", name="chart")
    call(message=run.message, turn_number=0, tab_index=1, tool_call_id="c1", name="f", status="pending")
    file = factories.create_picture(alice, "chart.png")
    for row in (agent, inner):
        ToolCallImage.objects.create(tool_call=row, file=file, position=0)
    assert post(client, input=[OUTPUT], previous_response_id=name).status_code == 200
    answer = Run.objects.latest("created_at")
    [copied, function] = answer.message.tool_calls.all()
    [inside] = copied.children.all()
    assert (function.status, function.response, inside.run, inside.message) == (
        "completed",
        "Rain",
        answer,
        None,
    )
    assert [row.images.get().file for row in (copied, inside)] == [file, file]
    assert agent.children.get() == inner


def test_no_format_is_text(alice: Any) -> None:
    assert post(by_token(alice), text={"format": None}).status_code == 200


@pytest.mark.parametrize("as_messages", [True, False])
def test_instructions_of_the_caller_instruct_and_are_no_information(alice: Any, as_messages: bool) -> None:
    words = "Answer in rhymes."
    body = (
        {"input": [*messages(words, role="system"), *messages("Why?")]}
        if as_messages
        else {"instructions": words}
    )
    client = by_token(alice)
    first = post(client, **body, tools=[FUNCTION]).json()
    run = Run.objects.get()
    assert run.dynamic_context == (
        "<instructions>\nThe program through which the user writes gives you these instructions for the current turn. "
        "Follow them.\n\nAnswer in rhymes.\n</instructions>"
    )
    assert first["instructions"] == words
    factories.finish_run(str(run.pk), "So.")
    api = factories.api_client(alice)
    question = api.get(f"/api/sessions/{run.turn.session_id}/messages/").json()[0]
    assert (question["instructions"], "additional_context" in question) == (words, False)
    again = factories.api_client(alice).post(
        f"/api/messages/{run.turn.user_message_id}/regenerations/", {}, format="json"
    )
    assert again.status_code == 202
    assert Run.objects.latest("created_at").dynamic_context == run.dynamic_context


def test_instructions_are_as_long_as_programs_need(alice: Any) -> None:
    client = by_token(alice)
    assert (
        post(
            client,
            instructions="x" * 50_000,
            input=[*messages("y" * 49_998, role="developer"), *messages("Why?")],
        ).status_code
        == 200
    )


def test_a_file_in_an_output_is_told_of(alice: Any) -> None:
    parts = [
        {"type": "input_text", "text": "Seen:"},
        {"type": "input_image", "image_url": "data:image/png;base64,aa"},
    ]
    assert (
        post(by_token(alice), input=[*messages("Hm"), CALL, {**OUTPUT, "output": parts}]).status_code == 200
    )
    assert ToolCall.objects.get().response == "Seen:\n\n(a file that cannot be shown here)"


def test_a_message_of_a_program_contains_whole_files(alice: Any) -> None:
    text = "The tide turns. " * 25_000
    spoken = [*messages(text), *messages("So.", role="assistant"), *messages(text)]
    assert post(by_token(alice), input=spoken).status_code == 200
    assert [row.text for row in ChatMessage.objects.filter(role="user")] == [text, text]
