"""Exports of Claude and DeepSeek become sessions, alone or in their zip; other files are refused by a sentence that helps."""

from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import MessageFile, Run, Session, ToolCall
from tests.features.transfer.foreign_exports import examples
from tests.features.transfer.foreign_exports.test_import import branches, bring_in, stored
from tests.features.transfer.foreign_exports.test_zip import contents_in, written, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def names_of(session: Session) -> list[tuple[str, str, str]]:
    rows = MessageFile.objects.filter(message__session=session).order_by("position").select_related("file")
    return [(one.file.name, one.file.kind, one.file.error_code) for one in rows]


def test_a_conversation_of_claude_keeps_branches_thinking_calls_and_attachments(
    client: APIClient, media: Path
) -> None:
    session = stored(bring_in(client, [examples.claude()]))
    assert branches(session) == [["How high?", "Let me look.Two metres."], ["How high?", "Three metres."]]
    answer = session.messages.get(text__endswith="Two metres.")
    assert answer.reasoning == "Look it up."
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.arguments, call.response, call.text_before) == (
        "sea",
        {"at": 1},
        "high",
        "Let me look.",
    )
    assert names_of(session) == [("tides.pdf.txt", "text", ""), ("sea.png", "image", "content_missing")]
    assert contents_in(media) == [b"Two tides."]
    assert (session.title, session.updated_at.isoformat()) == ("Tides", "2023-11-14T22:13:25+00:00")
    assert session.leaf is not None
    assert session.leaf.text == "Three metres."


def test_messages_of_claude_without_a_tree_follow_each_other(client: APIClient) -> None:
    messages = [
        {"uuid": str(number), "sender": sender, "text": sender, "created_at": "2023-11-14T22:13:20Z"}
        for number, sender in enumerate(("human", "assistant", "human", "assistant"))
    ]
    session = stored(bring_in(client, [examples.claude(chat_messages=messages)]))
    assert branches(session) == [["human", "assistant", "human", "assistant"]]


def test_a_conversation_of_deepseek_keeps_branches_thinking_searches_and_models(client: APIClient) -> None:
    session = stored(bring_in(client, [examples.deepseek()]))
    assert branches(session) == [["How high?", "Three metres."], ["How high?", "Two metres."]]
    answer = session.messages.get(text="Two metres.")
    assert answer.reasoning == "Look it up."
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.response, call.text_before) == ("search", "Sea https://sea.example/", "")
    assert {run.model for run in Run.objects.filter(turn__session=session)} == {
        "deepseek-reasoner",
        "deepseek-chat",
    }
    assert names_of(session) == [("tides.pdf", "text", "content_missing")]
    assert session.created_at.isoformat() == "2023-11-14T22:13:20+00:00"


@pytest.mark.parametrize("make", [examples.claude, examples.deepseek])
def test_the_zip_of_the_product_is_taken_as_it_is_and_adds_nothing_twice(
    client: APIClient, make: Any
) -> None:
    file = zipped(("data/users.json", b"[]"), ("data/conversations.json", written(make())))
    assert [one["is_new"] for one in bring_in(client, file).json()["imported"]] == [True]
    assert [one["is_new"] for one in bring_in(client, [make()]).json()["imported"]] == [False]


@pytest.mark.parametrize(
    ("broken", "field", "title"),
    [
        (examples.claude(chat_messages=[{"uuid": "1", "sender": "system"}]), "0.chat_messages.0.sender", "Tides"),
        (examples.claude(chat_messages=[{"uuid": "1"}]), "0.chat_messages.0.sender", "Tides"),
        (examples.deepseek(mapping={"1": {"message": {"content": "x"}}}), "0.mapping.1.message.fragments", "Tides"),
        (examples.deepseek(mapping={"1": {"message": {"fragments": 7}}}), "0.mapping.1.message.fragments", "Tides"),
    ],
)  # fmt: skip
def test_what_says_nothing_is_refused_by_a_name(
    client: APIClient, broken: Any, field: str, title: str
) -> None:
    answer = bring_in(client, [broken, examples.chatgpt()]).json()
    assert [(one["field"], one["title"]) for one in answer["refused"]] == [(field, title)]
    assert len(answer["imported"]) == 1


def test_details_never_refuse_a_chat(client: APIClient) -> None:
    message = {
        "uuid": "1", "sender": "assistant", "created_at": "soon", "attachments": [None], "files": [{"file_name": 4}],
        "content": [None, {"type": "text", "text": "x", "citations": 5}, {"type": "tool_result", "content": 7}, {"type": "flag"}],
    }  # fmt: skip
    assert branches(stored(bring_in(client, [examples.claude(chat_messages=[message], name=7)]))) == [
        ["…", "x"]
    ]
    said = {
        "fragments": [None, {"type": "RESPONSE", "content": "x", "id": 3}],
        "model": 4,
        "files": 8,
        "inserted_at": [],
    }
    mapping = {"1": {"message": said}}
    assert branches(stored(bring_in(client, [examples.deepseek(mapping=mapping, title={})]))) == [["…", "x"]]


@pytest.mark.parametrize(
    "file",
    [
        b'[{"uuid": "u", "full_name": "Alice", "email_address": "a@example.org"}]',  # Claude's users.json
        b'[{"uuid": "p", "name": "Project", "docs": []}]',  # its projects.json
        b'{"user_id": "u", "mobile": null}',  # DeepSeek's user.json
        zipped(("users.json", b"[]"), ("projects.json", b"[]")),
    ],
)
def test_another_file_of_an_export_is_refused_with_the_one_to_choose(client: APIClient, file: bytes) -> None:
    answer = bring_in(client, file)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_value")
    assert "conversations.json" in answer.json()["message"]
    assert not Session.objects.exists()


@pytest.mark.parametrize("make", [examples.claude, examples.deepseek, examples.librechat, examples.chatgpt])
def test_an_answer_that_comes_out_empty_is_remarked(client: APIClient, make: Any) -> None:
    conversation = make()
    if make is examples.claude:
        conversation["chat_messages"][2]["text"] = " "
        field = "chat_messages.2"
    elif make is examples.deepseek:
        conversation["mapping"]["3"]["message"]["fragments"] = []
        field = "mapping.3"
    elif make is examples.librechat:
        conversation["messages"][0]["children"][0]["content"] = [{"type": "unheard-of", "melody": "x"}]
        field = "messages.0.children.0"
    else:
        conversation["mapping"]["again"]["message"]["content"] = {"content_type": "unheard-of", "melody": "x"}
        field = "mapping.again"
    answer = bring_in(client, [conversation]).json()
    assert answer["refused"] == []
    (remark,) = answer["remarks"]
    assert (remark["code"], remark["field"], remark["title"]) == ("message_empty", f"0.{field}", "Tides")
    assert remark["session"] == answer["imported"][0]["session"]
    assert bring_in(client, [conversation]).json()["remarks"] == []


def test_answers_that_failed_or_only_think_or_call_are_not_empty(client: APIClient) -> None:
    answer = bring_in(client, [examples.open_webui(), examples.chatgpt(), examples.librechat()]).json()
    assert (len(answer["imported"]), answer["remarks"]) == (3, [])
