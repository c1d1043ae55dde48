"""What a run input of AG-UI is refused for, what it starts, and what it finds again."""

from typing import Any
from uuid import uuid4

import pytest

from chat.models import Agent, ChatMessage, ModelConfig, Run, Scope, Session, ToolCall
from chat.sessions.deletion import delete_session
from chat.sessions.settings import create_session
from chat.turns.deletion import delete_message
from features.agui import threads
from features.agui.models import AgUiRun
from features.agui.run_input import AgUiRunBody, Around, read_messages
from features.agui.threads import join_run, load_around
from features.openai.authentication import Caller
from tests import factories
from tests.features.openai.test_models import by_token

pytestmark = pytest.mark.django_db(transaction=True)


def message(role: str, content: Any, name: str = "", **more: Any) -> dict[str, Any]:
    return {"id": name or str(uuid4()), "role": role, "content": content, **more}


def asked(text: str = "Why two tides?", **more: Any) -> dict[str, Any]:
    return {"threadId": "t", "runId": "r", "messages": [message("user", text, "q1")], **more}


def join(user: Any, sent: dict[str, Any], model: str | None = None) -> threads.Joined:
    return join_run(Caller(user), AgUiRunBody.parse(sent), model)


TOOL = {"name": "draw", "description": "Draws."}
CALL = {"id": "c1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}
USER = message("user", "Hm")


@pytest.mark.parametrize(
    ("sent", "field", "code"),
    [
        ({"threadId": ""}, "threadId", "invalid_value"),
        ({"runId": None}, "runId", "invalid_type"),
        ({"runId": "x" * 201}, "runId", "invalid_value"),
        ({"messages": None}, "messages", "invalid_type"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": ["Hm"]}, "messages.0", "invalid_type"),
        ({"messages": [{"id": "1", "role": "robot"}]}, "messages.0.role", "invalid_value"),
        ({"messages": [{"role": "user"}]}, "messages.0.id", "invalid_type"),
        ({"messages": [message("user", " ")]}, "messages", "message_empty"),
        ({"messages": [message("user", 1)]}, "messages.0.content", "invalid_type"),
        ({"messages": [message("user", [1])]}, "messages.0.content.0", "invalid_type"),
        ({"messages": [USER, message("assistant", "Well")]}, "messages", "invalid_value"),
        ({"messages": [message("assistant", "Well"), USER]}, "messages.0.role", "invalid_value"),
        ({"messages": [USER, message("assistant", "", toolCalls=[1])]}, "messages.1.toolCalls.0.function", "invalid_value"),
        ({"messages": [USER, message("assistant", "", toolCalls=[CALL]), USER]}, "messages.2", "invalid_value"),
        ({"messages": [message("tool", "drawn", toolCallId="c1")]}, "messages", "invalid_value"),
        ({"tools": [{"name": "a b"}]}, "tools.0.name", "invalid_value"),
        ({"tools": [TOOL, TOOL]}, "tools", "invalid_value"),
        ({"context": [{"description": "Port"}]}, "context.0.value", "field_required"),
        ({"context": [{"description": "x" * 60_000, "value": "x" * 60_000}]}, "messages", "invalid_value"),
        ({"resume": [{"interruptId": "x", "status": "later"}]}, "resume.0.status", "invalid_value"),
    ],
)  # fmt: skip
def test_an_input_is_refused_by_the_name_of_its_field(
    alice: Any, sent: dict[str, Any], field: str, code: str
) -> None:
    answer = by_token(alice).post("/agui", {**asked(), **sent}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, code, field)
    assert not Session.objects.exists()


def test_what_a_later_version_adds_is_no_reason_to_refuse(alice: Any) -> None:
    joined = join(alice, asked(protocolVersion="1.7", state=None, forwardedProps={"a": 1}, news=[1]))
    assert joined.is_new


def test_an_agent_is_named_by_the_address(alice: Any) -> None:
    agent = Agent.objects.create(owner=alice, name="Pilot", prompt="Be brief.")
    session = join(alice, asked(), "agent/pilot").run.turn.session
    assert session.agent == agent
    client = by_token(alice)
    refused = client.post("/agui?model=agent/nobody", asked(runId="2"), content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (404, "model")


def test_a_token_for_an_agent_runs_that_agent(alice: Any) -> None:
    agent = Agent.objects.create(owner=alice, name="Pilot", prompt="Be brief.")
    body = AgUiRunBody.parse(asked())
    assert join_run(Caller(alice, agent.pk), body, None).run.turn.session.agent == agent
    # A thread without the agent is not its: the id is taken.
    plain = join(alice, asked(threadId="u")).run
    factories.finish_run(str(plain.pk))
    refused = by_token(alice, scope=Scope.AGENT, agent=agent).post(
        "/agui", asked(threadId="u"), content_type="application/json"
    )
    assert (refused.status_code, refused.json()["field"]) == (404, "threadId")


def test_the_same_request_starts_one_run(alice: Any) -> None:
    first, again = join(alice, asked()), join(alice, asked())
    assert (first.run, first.is_new, again.run, again.is_new) == (again.run, True, first.run, False)
    assert Run.objects.count() == AgUiRun.objects.count() == 1


def test_a_request_that_was_stored_meanwhile_is_found(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests at the same time: neither finds the other, and the second one's rows are refused."""
    first = join(alice, asked())
    looks = iter([True, False])
    find_named = threads._Thread.find_named
    monkeypatch.setattr(threads._Thread, "find_named", lambda self: None if next(looks) else find_named(self))
    factories.finish_run(str(first.run.pk))
    again = join(alice, asked())
    assert (again.run.pk, again.is_new) == (first.run.pk, False)
    assert Run.objects.count() == 1


def test_messages_of_a_long_chat_that_are_left_out_are_told_of(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.finish_run(str(join(alice, asked()).run.pk))
    run = join(alice, asked(runId="r2", messages=[message("user", "Hm?", "q2")])).run
    for most, expected in ((400, (3, False)), (2, (2, True))):
        monkeypatch.setattr(threads, "MAX_BRANCH", most)
        around = load_around(run, lambda answer: [answer.text])
        assert (len(around.before), around.is_cut) == expected


def test_a_question_whose_answer_is_in_progress_is_not_asked_twice(alice: Any) -> None:
    """A frontend that lost the connection may ask again under another id."""
    first, again = join(alice, asked()), join(alice, asked(runId="r2"))
    assert (again.run, again.is_new) == (first.run, False)
    assert set(AgUiRun.objects.values_list("name", flat=True)) == {"r", "r2"}


def test_a_question_that_was_edited_in_its_place_is_asked_beside_it(alice: Any) -> None:
    first = factories.finish_run(str(join(alice, asked()).run.pk))
    again = join(alice, asked("Why one tide?", runId="r2")).run
    assert again.turn.user_message.text == "Why one tide?"
    assert again.turn.user_message.parent == first.turn.user_message.parent


def test_a_question_follows_the_one_before_it_whose_answer_was_not_seen(alice: Any) -> None:
    """The first answer failed, or the connection did; meanwhile the page has gone to another branch."""
    first = factories.finish_run(str(join(alice, asked()).run.pk))
    other = join(alice, asked("Why one tide?", runId="r2")).run
    factories.finish_run(str(other.pk))
    messages = [message("user", "Why two tides?", "q1"), message("user", "Hm?", "q2")]
    run = join(alice, asked(runId="r3", messages=messages)).run
    assert (run.turn.user_message.text, run.turn.user_message.parent_id) == ("Hm?", first.message_id)


def test_a_thread_may_be_a_chat_of_the_page(alice: Any) -> None:
    session = create_session(alice)
    joined = join(alice, asked(threadId=str(session.pk)))
    assert joined.run.turn.session == session
    # Of another user, it is only a name.
    assert join(factories.create_user("mallory"), asked(threadId=str(session.pk))).run.turn.session != session


def test_a_deleted_thread_is_not_begun_anew(alice: Any) -> None:
    delete_session(factories.finish_run(str(join(alice, asked()).run.pk)).turn.session)
    refused = by_token(alice).post("/agui", asked(), content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (404, "threadId")


def test_a_history_from_elsewhere_begins_a_thread_and_is_not_told_again(alice: Any) -> None:
    messages = [
        message("user", "Draw"),
        message("assistant", "", toolCalls=[CALL]),
        message("tool", "drawn", toolCallId="c1"),
        message("assistant", "There."),
        message("activity", {"anything": 1}),
        message("user", "Larger"),
    ]
    run = join(alice, asked(messages=messages)).run
    branch = ChatMessage.objects.branch_to(run.turn.user_message_id)
    assert [stored.text for stored in branch] == ["", "Draw", "There.", "Larger"]
    assert ToolCall.objects.get().response == "drawn"
    factories.finish_run(str(run.pk))
    client = by_token(alice)
    refused = client.post(
        "/agui",
        asked(runId="2", messages=[*messages[:-1], message("user", "Smaller")]),
        content_type="application/json",
    )
    assert (refused.status_code, refused.json()["field"]) == (400, "messages")


def test_a_part_that_nobody_can_read_is_no_reason_to_refuse(alice: Any) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "source": {"type": "url", "value": "https://a.example/b.png"}},
        {"type": "audio", "source": {"type": "data", "value": "", "mimeType": "audio/mp3"}},
    ]
    run = join(alice, asked(parts)).run
    assert run.turn.user_message.text.count("(a file that cannot be shown here)") == 2


def test_a_frontends_functions_need_a_model_that_calls_them(alice: Any) -> None:
    ModelConfig.objects.update(supports_tools=False)
    refused = by_token(alice).post("/agui", asked(tools=[TOOL]), content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (400, "tools")
    assert not Session.objects.exists()


def test_messages_that_are_long_are_not_kept_for_snapshots(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert join(alice, asked()).around == Around(asked()["messages"], [])
    monkeypatch.setattr(threads, "MAX_RESTATED_BYTES", 10)
    assert join(alice, asked()).around is None


def test_a_run_that_is_joined_again_stays_where_it_was_in_its_thread(alice: Any) -> None:
    first = factories.finish_run(str(join(alice, asked()).run.pk))
    answer, later = message("assistant", "An answer", f"{first.pk.hex}-0"), message("user", "Hm?", "q2")
    sent = asked(messages=[*asked()["messages"], answer, later])
    assert join(alice, sent).around == Around(asked()["messages"], [later])


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"metadata": {"filename": "tides.txt"}}, "tides.txt"),
        ({"metadata": {"title": ""}, "source": {"mimeType": "text/csv"}}, "document.csv"),
        ({"source": {"mimeType": "application/pdf"}}, "document"),
    ],
)
def test_a_document_has_a_name_that_tells_what_it_is(part: dict[str, Any], name: str) -> None:
    source = {"type": "data", "value": "YQ==", "mimeType": "text/plain", **part.get("source", {})}
    sent = message("user", [{"type": "document", **part, "source": source}])
    parsed = read_messages([sent], 0, None)
    assert [file.name for file in parsed.inline.values()] == [name]
    assert parsed.conversation.exchanges[0].files == [*parsed.inline]


def test_outputs_are_found_by_their_calls_and_are_never_lost(alice: Any) -> None:
    run = factories.finish_run(str(join(alice, asked(tools=[TOOL])).run.pk))
    call = ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tool_call_id="c1", name="draw", status="pending"
    )
    name = f"{run.pk.hex}-0-c1"
    # A frontend that tells only what is new.
    messages = [message("tool", "", toolCallId=name), message("user", "Larger", "q2")]
    factories.finish_run(str(join(alice, asked(runId="2", messages=messages)).run.pk))
    call.refresh_from_db()
    assert (call.response, call.status) == ("(no output)", "pending")
    client = by_token(alice)
    for wrong in (f"{run.pk.hex}-0-c2", "c1", name):
        messages = [message("tool", "drawn", toolCallId=wrong), message("user", "Smaller", "q3")]
        refused = client.post("/agui", asked(runId="3", messages=messages), content_type="application/json")
        assert (refused.status_code, refused.json()["field"]) == (400, "messages"), refused.content


def test_an_answer_that_was_deleted_is_not_shown_again(alice: Any) -> None:
    run = factories.finish_run(str(join(alice, asked()).run.pk))
    other = join(alice, asked("Why one tide?", runId="r2")).run
    factories.finish_run(str(other.pk))
    delete_message(run.message)
    refused = by_token(alice).post("/agui", asked(), content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (404, "runId")


def test_messages_that_the_server_has_named_are_known_again(alice: Any) -> None:
    """A frontend without messages gets those of the chat, by their ids here."""
    session = create_session(alice)
    answered = factories.complete_turn(factories.api_client(alice), session.pk)
    question = ChatMessage.objects.get(session=session, role="user")
    messages = [message("user", question.text, str(question.pk)), message("user", "And?", "q2")]
    run = join(alice, asked(threadId=str(session.pk), messages=messages)).run
    assert (run.turn.user_message.text, run.turn.user_message.parent) == ("And?", question.latest_child), (
        answered
    )
