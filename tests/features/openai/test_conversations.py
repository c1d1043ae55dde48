"""Conversations are chats: what they begin with, what their items are, and who finds them."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import Mock
from uuid import UUID

import pytest
from openai.types.conversations import Conversation, ConversationItem, ConversationItemList
from pydantic import TypeAdapter

from chat.models import Agent, ChatMessage, Run, Scope, Session, ToolCall
from chat.presenters import page_bytes
from chat.protocol.errors import ApiError
from chat.sessions.deletion import delete_for_good
from features.openai import conversations, responses
from features.openai.models import ConversationMetadata
from features.openai.responses import find_session
from tests import factories
from tests.chat.sessions.portable.test_round_trip import file_of
from tests.features.openai.test_models import by_token, refused
from tests.features.openai.test_responses import CALL, FUNCTION, OUTPUT, messages, post

pytestmark = pytest.mark.django_db(transaction=True)
ITEM: TypeAdapter[Any] = TypeAdapter(ConversationItem)


def send(client: Any, path: str = "", **body: Any) -> Any:
    return client.post(f"/v1/conversations{path}", body, content_type="application/json")


def create(client: Any, **body: Any) -> str:
    answer = send(client, **body)
    assert answer.status_code == 200, answer.content
    return Conversation.model_validate(answer.json(), strict=True).id


def items(client: Any, conversation: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/v1/conversations/{conversation}/items", query)
    assert answer.status_code == 200, answer.content
    ConversationItemList.model_validate(answer.json())
    listed: list[dict[str, Any]] = answer.json()["data"]
    for item in listed:
        ITEM.validate_python(item)
        assert client.get(f"/v1/conversations/{conversation}/items/{item['id']}").json() == item
    return listed


def texts(listed: list[dict[str, Any]]) -> list[str]:
    return [item["content"][0]["text"] for item in listed if item["type"] == "message"]


def test_a_chat_that_names_no_model_is_exported_and_imported(alice: Any) -> None:
    name = create(by_token(alice), items=[*messages("Why?"), *messages("So.", role="assistant")])
    client = factories.api_client(alice)
    file = file_of(client, str(UUID(name.removeprefix("conv_"))))
    copy = client.post("/api/sessions/import/", file, format="json")
    assert copy.status_code == 201, copy.json()
    assert factories.message_texts(client, copy.json()["id"]) == ["Why?", "So."]


def ask_in_between(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Any]) -> None:
    """Have this request answered while the next one has found its conversation, and locks nothing yet."""
    stored_files = responses.stored_files

    def ask_and_go_on(*args: Any) -> Any:
        monkeypatch.setattr(responses, "stored_files", stored_files)
        assert ask().status_code == 200
        return stored_files(*args)

    monkeypatch.setattr(responses, "stored_files", ask_and_go_on)


def test_a_conversation_is_created_read_changed_and_deleted(alice: Any) -> None:
    client = by_token(alice)
    name = create(client, metadata={"app": "pier"})
    address = f"/v1/conversations/{name}"
    assert client.get(address).json()["metadata"] == {"app": "pier"}
    assert send(client, f"/{name}", metadata={"app": "quay"}).json()["metadata"] == {"app": "quay"}
    assert client.get(address).json()["metadata"] == {"app": "quay"}
    assert items(client, name) == []
    deleted = client.delete(address).json()
    assert deleted == {"id": name, "object": "conversation.deleted", "deleted": True}
    refused(client.get(address), 404, "not_found")
    refused(client.get(f"{address}/items"), 404, "not_found")
    delete_for_good(Session.with_trash.get())
    assert not ConversationMetadata.objects.exists()


def test_what_is_told_is_listed_and_continued(alice: Any) -> None:
    client = by_token(alice)
    history = [
        *messages("Rain?"),
        *messages("I look.", role="assistant"),
        CALL,
        OUTPUT,
        *messages("It rains.", role="assistant"),
        *messages("And now?"),
    ]
    name = create(client, items=history)
    listed = items(client, name, order="asc")
    assert [item["type"] for item in listed] == [
        "message", "message", "function_call", "function_call_output", "message", "message",
    ]  # fmt: skip
    assert texts(listed) == ["Rain?", "I look.", "It rains.", "And now?"]
    answer = post(client, conversation=name, input="In Brest?").json()
    assert answer["conversation"] == {"id": name}
    assert Run.objects.latest("created_at").turn.user_message.text == "And now?\n\nIn Brest?"
    factories.finish_run(str(UUID(answer["id"].removeprefix("resp_"))), "Less.")
    assert texts(items(client, name)) == ["Less.", "And now?\n\nIn Brest?", "It rains.", "I look.", "Rain?"]
    assert post(client, conversation={"id": name}).json()["previous_response_id"] == answer["id"]
    assert Session.objects.count() == 1


def test_of_simultaneous_responses_one_joins_the_open_question_and_the_other_follows_it(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_token(alice)
    name = create(client, items=messages("I sail there."))
    ask_in_between(monkeypatch, lambda: post(client, conversation=name, input="Why?"))
    assert post(client, conversation=name, input="When?").status_code == 200
    first, second = Run.objects.order_by("created_at")
    assert first.turn.user_message.text == "I sail there.\n\nWhy?"
    assert second.turn.user_message.text == "When?"
    assert second.turn.user_message.parent_id == first.message_id


def test_a_conversation_gets_the_agent_of_its_first_response(alice: Any) -> None:
    for name in ("Pilot", "Cook"):
        Agent.objects.create(owner=alice, name=name, models=["deep"])
    client = by_token(alice)
    for begins in ([], messages("I sail there."), [*messages("Q"), *messages("A", role="assistant")]):
        name = create(client, items=begins)
        assert post(client, conversation=name, model="agent/pilot").json()["model"] == "agent/pilot"
        run = Run.objects.latest("created_at")
        assert (run.model, run.turn.session.agent) == ("deep", Agent.objects.get(name="Pilot"))
        refused(post(client, conversation=name, model="agent/cook"), 400, "invalid_value", "model")
    plain = create(client)
    assert post(client, conversation=plain, model="quick").status_code == 200
    refused(post(client, conversation=plain, model="agent/pilot"), 400, "invalid_value", "model")
    counted = create(client)
    body = {"input": "Why?", "conversation": counted, "model": "agent/pilot"}
    assert client.post("/v1/responses/input_tokens", body, content_type="application/json").status_code == 200
    assert Session.objects.get(pk=counted.removeprefix("conv_")).agent is None


def test_of_simultaneous_first_responses_one_names_the_agent(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Pilot", "Cook"):
        Agent.objects.create(owner=alice, name=name)
    client = by_token(alice)
    name = create(client)
    ask_in_between(monkeypatch, lambda: post(client, conversation=name, model="agent/cook"))
    refused(post(client, conversation=name, model="agent/pilot"), 400, "invalid_value", "model")
    assert Run.objects.get().turn.session.agent == Agent.objects.get(name="Cook")


def test_rounds_before_an_answer_are_listed_as_they_were_written(alice: Any) -> None:
    """Calls of Turnwire's own tools are none of the caller's, and those that the model wrote wrongly are not shown."""
    client = by_token(alice)
    first = post(client, tools=[FUNCTION]).json()
    run = factories.finish_run(str(Run.objects.get().pk), "I look.")
    call = partial(ToolCall.objects.create, run=run, message=run.message)
    call(
        turn_number=0, tool_call_id="c0", name="f", status="failed", response="Wrong.", text_before="I look."
    )
    secret = [{"number": 1, "document_id": "d1", "title": "Pier"}]
    own = partial(call, turn_number=1, duration_ms=5)
    own(tool_call_id="o1", name="clock", status="completed", response="18:40")
    own(tab_index=1, tool_call_id="o2", name="search", status="completed", response="Pier", documents=secret)
    own(tab_index=2, tool_call_id="o3", name="clock", status="failed", response="Broken.")
    call(turn_number=1, tab_index=3, tool_call_id="c1", name="f")
    second = post(client, input=[OUTPUT], previous_response_id=first["id"]).json()
    factories.finish_run(str(UUID(second["id"].removeprefix("resp_"))), "I look.\n\nRain.")
    listed = items(client, second["conversation"]["id"], order="asc")
    assert [item["type"] for item in listed] == [
        "message", "message", "mcp_call", "mcp_call", "mcp_call", "function_call", "function_call_output", "message",
    ]  # fmt: skip
    assert texts(listed) == ["Why two tides?", "I look.", "Rain."]
    assert [item["output"] for item in listed if item["type"] == "mcp_call"] == ["18:40", "", None]
    input_items = client.get(f"/v1/responses/{second['id']}/input_items").json()["data"]
    assert input_items == [listed[0], *listed[5:7]]


def test_items_are_listed_by_pages_in_both_orders(alice: Any) -> None:
    client = by_token(alice)
    history = [item for n in range(3) for item in (*messages(f"Q{n}"), *messages(f"A{n}", role="assistant"))]
    name = create(client, items=history)
    whole = items(client, name)
    assert texts(whole) == ["A2", "Q2", "A1", "Q1", "A0", "Q0"]
    assert items(client, name, order="asc") == whole[::-1]
    for order, expected in (("desc", whole), ("asc", whole[::-1])):
        listed: list[dict[str, Any]] = []
        while len(listed) < len(expected):
            after = {"after": listed[-1]["id"]} if listed else {}
            page = client.get(f"/v1/conversations/{name}/items", {"order": order, "limit": 2, **after}).json()
            listed += page["data"]
            assert page["has_more"] == (len(listed) < len(expected))
            assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][-1]["id"])
        assert listed == expected
    refused(client.get(f"/v1/conversations/{name}/items?after=msg_1"), 404, "not_found", "after")
    refused(client.get(f"/v1/conversations/{name}/items?order=up"), 400, "invalid_value", "order")
    refused(client.get(f"/v1/conversations/{name}/items?limit=0"), 400, "invalid_pagination")
    refused(client.get(f"/v1/conversations/{name}/items/msg_1"), 404, "not_found")


def test_an_item_is_found_without_what_is_not_asked_for(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = by_token(alice)
    exchange = [*messages("Rain?"), CALL, OUTPUT, *messages("It rains.", role="assistant")]
    name = create(
        client, items=[*exchange, *messages("And now?"), CALL, OUTPUT, *messages("Less.", role="assistant")]
    )
    address = f"/v1/conversations/{name}/items"
    whole = items(client, name, order="asc")
    read: list[UUID] = []
    items_of_run = conversations._items_of_run

    def note_run(run: UUID) -> list[dict[str, Any]]:
        read.append(run)
        return items_of_run(run)

    monkeypatch.setattr(conversations, "_items_of_run", note_run)
    runs = Run.objects.filter(turn__session=name.removeprefix("conv_")).order_by("message__sent_at")
    oldest, newest = runs.values_list("pk", flat=True)
    for item in whole:
        del read[:]
        assert client.get(f"{address}/{item['id']}").json() == item
        has_run = item not in (whole[0], whole[4])
        assert read == ([oldest if whole.index(item) < 4 else newest] if has_run else [])
    del read[:]
    for unknown in (
        f"fc_{oldest.hex}0000",
        f"msg_{'0' * 32}",
        f"mcpa_{oldest.hex}",
        f"fco_{newest.hex}",
        "x",
    ):
        refused(client.get(f"{address}/{unknown}"), 404, "not_found")
        refused(client.get(address, {"after": unknown}), 404, "not_found", "after")
    assert set(read) <= {oldest, newest}
    other = create(client, items=exchange)
    del read[:]
    for item in whole:
        refused(client.get(f"/v1/conversations/{other}/items/{item['id']}"), 404, "not_found")
    assert not read


def test_a_page_of_long_items_ends_early(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = by_token(alice)
    name = create(client, items=[*messages("Q"), *messages("A", role="assistant")])
    monkeypatch.setattr(page_bytes, "PAGE_BYTES", 1)
    first = client.get(f"/v1/conversations/{name}/items").json()
    assert (texts(first["data"]), first["has_more"]) == (["A"], True)
    last = client.get(f"/v1/conversations/{name}/items?after={first['last_id']}").json()
    assert (texts(last["data"]), last["has_more"]) == (["Q"], False)


def test_a_conversation_that_is_deleted_meanwhile_is_not_found(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = create(by_token(alice), items=messages("Hm?"))

    def find_late(caller: Any, name: str) -> Session | None:
        session = find_session(caller, name)
        Session.objects.all().delete()
        return session

    monkeypatch.setattr(conversations, "find_session", find_late)
    refused(send(by_token(alice), f"/{name}", metadata={"app": "pier"}), 404, "not_found")
    assert not ConversationMetadata.objects.exists()


@pytest.mark.parametrize("path", ["", "after"])
def test_items_that_are_deleted_meanwhile_are_left_out(
    alice: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    client = by_token(alice)
    name = create(client, items=[*messages("Q"), *messages("A", role="assistant")])
    last = items(client, name)[0]["id"]
    load_branch = conversations._load_branch

    def load_early(session: Session, *, newest_first: bool) -> list[tuple[UUID, UUID | None]]:
        rows = load_branch(session, newest_first=newest_first)
        delete_for_good(session)
        return rows

    monkeypatch.setattr(conversations, "_load_branch", load_early)
    answer = client.get(f"/v1/conversations/{name}/items", {"after": last} if path else {})
    if path:
        refused(answer, 404, "not_found", "after")
    else:
        assert answer.json()["data"] == []


def test_a_conversation_is_created_with_its_metadata_or_not_at_all(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConversationMetadata.objects, "store", Mock(side_effect=ApiError("not_found")))
    refused(send(by_token(alice), metadata={"app": "pier"}), 404, "not_found")
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"items": messages("Be brief.", role="system")}, "items", "invalid_value"),
        ({"items": [OUTPUT]}, "items", "invalid_value"),
        ({"items": [*messages("Hm?"), CALL]}, "items", "invalid_value"),
        ({"items": "Hm?"}, "items", "invalid_type"),
        ({"items": messages([{"type": "input_file", "file_id": "x"}])}, "items.0.content.0.file_id", "invalid_id"),
        ({"items": messages([{"type": "input_text", "text": "Hm?"}, {"type": "input_file", "file_id": str(UUID(int=0))}])}, "items", "file_not_found"),
        ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
    ],
)  # fmt: skip
def test_what_no_chat_can_begin_with_is_refused(
    alice: Any, body: dict[str, Any], param: str, code: str
) -> None:
    refused(send(by_token(alice), **body), 400 if code != "file_not_found" else 404, code, param)
    assert not Session.objects.exists()


def test_nobody_else_finds_a_conversation(alice: Any) -> None:
    pilot = Agent.objects.create(owner=alice, name="Pilot")
    plain = create(by_token(alice), items=messages("Why?"))
    of_agent = by_token(alice, Scope.AGENT, agent=pilot)
    for client in (by_token(factories.create_user("bob")), of_agent):
        refused(client.get(f"/v1/conversations/{plain}"), 404, "not_found")
        refused(client.delete(f"/v1/conversations/{plain}"), 404, "not_found")
        refused(send(client, f"/{plain}", metadata={}), 404, "not_found")
        refused(client.get(f"/v1/conversations/{plain}/items"), 404, "not_found")
    name = create(of_agent)
    assert Session.objects.get(pk=name.removeprefix("conv_")).agent_id == pilot.pk
    assert of_agent.get(f"/v1/conversations/{name}").status_code == 200
    # Items come and go with responses.
    refused(send(of_agent, f"/{name}/items", items=messages("Hm?")), 405, "method_not_allowed")
    refused(of_agent.delete(f"/v1/conversations/{name}/items/msg_1"), 405, "method_not_allowed")
    assert ChatMessage.objects.count() == 3
