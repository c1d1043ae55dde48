"""Exports of ChatGPT, Open WebUI and LibreChat become sessions; what cannot be read is named with its line and field."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import MessageFile, Run, Session, ToolCall
from features.transfer.foreign_exports import claude, foreign_importer, librechat, open_webui, tree
from features.transfer.foreign_exports.tree import LEFT_OUT
from tests.features.transfer.foreign_exports import examples

pytestmark = pytest.mark.django_db


def bring_in(client: APIClient, file: Any) -> Any:
    content = file if isinstance(file, bytes) else json.dumps(file, indent=1).encode()
    return client.post("/api/sessions/import/foreign/", content, content_type="application/octet-stream")


def stored(answer: Any) -> Session:
    assert (answer.status_code, answer.json()["refused"]) == (200, []), answer.content
    return Session.objects.get(pk=answer.json()["imported"][0]["session"])


def branches(session: Session) -> list[list[str]]:
    """The texts from the root to each leaf."""
    rows = {row.pk: row for row in session.messages.all()}
    leaves = rows.keys() - {row.parent_id for row in rows.values()}
    paths = []
    for leaf in leaves:
        path, here = [], rows[leaf]
        while here.parent_id:
            path.append(here.text)
            here = rows[here.parent_id]
        paths.append(path[::-1])
    return sorted(paths)


def test_a_conversation_of_chatgpt_keeps_its_branches_calls_and_reasoning(client: APIClient) -> None:
    session = stored(bring_in(client, [examples.chatgpt()]))
    assert branches(session) == [
        ["How high are the tides?", "Let me compute.Two metres.", "And the lowest?"],
        ["How high are the tides?", "Three metres."],
    ]
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.arguments, call.response, call.text_before) == (
        "python", {"input": "1+1"}, "2", "Let me compute.",
    )  # fmt: skip
    answer = session.messages.get(text__endswith="Two metres.")
    assert answer.reasoning == "Look it up."
    assert {run.model for run in Run.objects.filter(turn__session=session)} == {"gpt-4o", "o3"}
    assert [one.file.name for one in MessageFile.objects.filter(message__session=session)] == ["tides.pdf"]
    assert session.leaf is not None
    assert session.leaf.text == "And the lowest?"
    assert (session.title, session.updated_at.timestamp()) == ("Tides", examples.T + 60.5)


def test_a_chat_of_open_webui_keeps_reasoning_calls_ratings_and_failures(client: APIClient) -> None:
    session = stored(bring_in(client, [examples.open_webui()]))
    assert branches(session) == [["How high?", ""], ["How high?", "Two metres."]]
    answer = session.messages.get(text="Two metres.")
    assert answer.reasoning == "Look & see."
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.arguments, call.response) == ("sea", {"at": 1}, "high")
    runs = Run.objects.filter(turn__session=session)
    assert {(run.model, run.status, run.error_message) for run in runs} == {
        ("llama3:8b", "completed", ""), ("gemma", "failed", "out of memory"),
    }  # fmt: skip
    assert runs.get(model="llama3:8b").completion_tokens == 7
    assert answer.feedback.is_positive is True
    assert session.leaf == answer


@pytest.mark.parametrize(
    "members",
    [
        {"meta": {"tags": ["sea_life", "Work", "work", "x" * 60, 7, None]}},
        {
            "meta": {},
            "chat": examples.open_webui()["chat"] | {"tags": [{"name": "sea life"}, "Work", "x" * 60]},
        },
    ],
)
def test_a_chat_of_open_webui_keeps_its_tags(client: APIClient, members: dict[str, Any]) -> None:
    session = stored(bring_in(client, [examples.open_webui(**members)]))
    assert session.tags == ["sea life", "Work", "x" * 40]


@pytest.mark.parametrize("meta", [7, [], {"tags": "work"}, {"tags": {"a": 1}}, {"tags": ["\u0000", ""]}])
def test_tags_of_open_webui_that_make_no_sense_are_left_out(client: APIClient, meta: Any) -> None:
    assert len(stored(bring_in(client, [examples.open_webui(meta=meta)])).tags) <= 1


def test_a_conversation_of_librechat_keeps_parts_and_replies(client: APIClient) -> None:
    session = stored(bring_in(client, examples.librechat()))
    assert branches(session) == [["How high?", "Two metres."]]
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.arguments, call.response) == ("sea", {"at": 1}, "high")
    answer = session.messages.get(text="Two metres.")
    assert (answer.reasoning, answer.feedback.is_positive) == ("Look it up.", False)
    assert session.created_at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_a_file_that_is_sent_again_adds_only_what_is_missing(client: APIClient, alice: User) -> None:
    bring_in(client, [examples.chatgpt()])
    again = bring_in(client, [examples.chatgpt(), examples.chatgpt(conversation_id="c-2")]).json()
    assert [one["is_new"] for one in again["imported"]] == [False, True]
    assert Session.objects.filter(owner=alice).count() == 2


def test_a_chat_in_the_trash_comes_back_when_its_file_is_sent_again(client: APIClient) -> None:
    session = stored(bring_in(client, [examples.chatgpt()]))
    assert client.delete(f"/api/sessions/{session.pk}/").status_code == 204
    assert not Session.objects.filter(pk=session.pk).exists()
    again = bring_in(client, [examples.chatgpt()])
    assert stored(again) == session
    assert [one["is_new"] for one in again.json()["imported"]] == [False]


def test_a_chat_that_was_deleted_for_good_is_imported_anew_before_the_sweeper_has_come(
    client: APIClient,
) -> None:
    session = stored(bring_in(client, [examples.chatgpt()]))
    session.messages.filter(text="Three metres.").update(text="Changed.")
    assert client.delete(f"/api/sessions/{session.pk}/").status_code == 204
    assert client.delete("/api/trash/").status_code == 204
    assert Session.with_trash.filter(pk=session.pk).exists()
    again = bring_in(client, [examples.chatgpt()])
    assert [one["is_new"] for one in again.json()["imported"]] == [True]
    assert ["How high are the tides?", "Three metres."] in branches(stored(again))


def test_a_request_without_time_left_is_continued_by_the_next(
    client: APIClient, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_importer.import_conversations, "__defaults__", (1e-9,))
    monkeypatch.setattr(foreign_importer, "_FAILED_IMPORT_FACTOR", 1e15)
    file = [examples.chatgpt(conversation_id=f"c-{number}") for number in range(3)]
    answers = [bring_in(client, file).json() for _ in range(4)]
    assert [one["is_complete"] for one in answers] == [False, False, False, True]
    assert Session.objects.filter(owner=alice).count() == 3


def test_questions_without_answers_and_answers_without_questions_are_kept(client: APIClient) -> None:
    messages = [
        {"messageId": "1", "text": "Hello, I am a bot.", "createdAt": "2023-11-14T22:13:20Z"},
        {"messageId": "2", "parentMessageId": "1", "text": "Hi", "isCreatedByUser": True},
        {"messageId": "3", "parentMessageId": "2", "text": "Are you there?", "isCreatedByUser": True},
    ]
    session = stored(bring_in(client, examples.librechat(messages=messages)))
    assert branches(session) == [["…", "Hello, I am a bot.", "Hi", "", "Are you there?"]]


def test_what_cannot_be_read_is_named_with_line_and_field_and_the_rest_is_imported(client: APIClient) -> None:
    broken = examples.chatgpt(conversation_id="c-2", title="Broken")
    broken["mapping"]["ask"]["message"]["content"]["parts"] = "How low?"
    file = json.dumps([examples.chatgpt(), broken, examples.open_webui()], indent=1)
    answer = bring_in(client, file.encode()).json()
    assert len(answer["imported"]) == 2
    (refused,) = answer["refused"]
    assert (refused["title"], refused["field"], refused["code"]) == (
        "Broken", "1.mapping.ask.message.content.parts", "invalid_type",
    )  # fmt: skip
    assert "How low?" in file.splitlines()[refused["line"] - 1]


def test_a_rule_of_sessions_that_is_broken_names_the_message(client: APIClient) -> None:
    late = examples.chatgpt()
    late["mapping"]["again"]["message"]["create_time"] = 99_999_999_999
    answer = bring_in(client, [late]).json()
    assert answer["refused"][0]["field"] == "0.mapping.again"
    assert answer["imported"] == []


def test_a_conversation_without_a_time_has_those_of_its_messages(client: APIClient) -> None:
    session = stored(bring_in(client, [examples.chatgpt(create_time=None, update_time=None)]))
    times = session.messages.exclude(parent=None).values_list("sent_at", flat=True)
    assert (session.created_at, session.updated_at) == (min(times), max(times))


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"create_time": 1e300, "update_time": "soon"}, id="times that are none"),
        pytest.param({"create_time": str(examples.T), "title": 7, "current_node": 5}, id="texts that are numbers, and the reverse"),
    ],
)  # fmt: skip
def test_details_of_a_conversation_never_refuse_it(client: APIClient, members: Any) -> None:
    assert len(branches(stored(bring_in(client, [examples.chatgpt(**members)])))) == 2


def test_details_of_messages_never_refuse_a_chat(client: APIClient) -> None:
    """Fractions and texts for counts, texts for ratings, nothing in place of a part."""
    chat = examples.open_webui()
    answer = chat["chat"]["history"]["messages"]["a1"]
    answer |= {
        "usage": {"prompt_tokens": 5.4, "completion_tokens": "7", "cost": {}},
        "annotation": {"rating": "-1", "comment": None},
        "files": [None, {"name": 7}],
        "timestamp": "now",
        "model": {"id": "m"},
    }
    session = stored(bring_in(client, [chat]))
    run = session.messages.get(text="Two metres.").run
    assert (run.prompt_tokens, run.completion_tokens, run.model) == (5, 7, "unknown")
    message = _message("1", "", content=[None, {"type": "text", "text": "y", "tool_call": None}], text=None)
    message = {**message, "feedback": {"rating": 1}, "files": [None], "error": "no", "model": 4}
    assert branches(stored(bring_in(client, [examples.librechat(messages=[message])]))) == [["…", "y"]]
    part = {"content_type": "text", "parts": [None, "x"], "thoughts": [None], "text": None}
    node = {
        "message": {
            "author": {"role": "user", "name": 3},
            "content": part,
            "metadata": {"attachments": [None]},
        }
    }
    assert branches(stored(bring_in(client, [examples.chatgpt(mapping={"a": node})]))) == [["x"]]


def test_an_answer_of_open_webui_that_is_only_in_its_output_is_whole(client: APIClient) -> None:
    output = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hmm"}]},
        {"type": "function_call", "name": "search", "arguments": '{"q":"x"}', "call_id": "c1"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "found"}],
        },
        None,
        {"type": "message", "content": [{"type": "output_text", "text": "Only here."}, None]},
    ]
    picture = {"type": "image", "url": "data:image/png;base64,AAAA"}
    messages = {
        "q": {"role": "user", "content": "Q?", "timestamp": examples.T, "files": [picture]},
        "a": {"role": "assistant", "parentId": "q", "content": "", "timestamp": examples.T, "output": output},
    }
    session = stored(bring_in(client, [examples.open_webui(chat={"history": {"messages": messages}})]))
    assert branches(session) == [["Q?", "Only here."]]
    assert session.messages.get(text="Only here.").reasoning == "hmm"
    call = ToolCall.objects.get(run__turn__session=session)
    assert (call.name, call.arguments, call.response) == ("search", {"q": "x"}, "found")
    assert [one.file.name for one in MessageFile.objects.filter(message__session=session)] == ["image.png"]


def test_pictures_that_chatgpt_made_are_said_to_be_left_out(client: APIClient) -> None:
    chat = examples.chatgpt()
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}]
    drawn = {
        "author": {"role": "tool", "name": "dalle"},
        "content": {"content_type": "multimodal_text", "parts": parts},
    }
    last = chat["current_node"]
    chat["mapping"]["drawn"] = {"parent": last, "message": drawn}
    assert LEFT_OUT in {remark["message"] for remark in bring_in(client, [chat]).json()["remarks"]}


def _changed(**members: Any) -> dict[str, Any]:
    return examples.librechat(**members)


def _message(key: str, above: str, **members: Any) -> Mapping[str, Any]:
    return {
        "messageId": key,
        "parentMessageId": above,
        "text": "x",
        "createdAt": "2023-11-14T22:13:20Z",
    } | members


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (_changed(messages=[_message("1", "2"), _message("2", "1")]), "invalid_value"),
        (_changed(messages=[_message("1", ""), _message("1", "")]), "invalid_value"),
        (_changed(messages=[_message("1", "", createdAt="soon")]), "field_required"),
        (_changed(messages=[{"text": "x"}]), "field_required"),
        (_changed(messages=[7]), "invalid_type"),
        (_changed(messages=[]), "field_required"),
        (_changed(messages=[_message(str(n), str(n - 1)) for n in range(1_100)]), "body_too_large"),
        (_changed(messages=[_message("1", "", text="x" * 2_000_001)]), "invalid_value"),
        (examples.chatgpt(mapping={"a": 1}), "invalid_type"),
        (examples.chatgpt(title={"a": 1}, mapping={"a": {"message": {"author": 7}}}), "invalid_type"),
        (examples.chatgpt(conversation_id=None), "field_required"),
        (examples.open_webui(chat={"history": 7}), "invalid_type"),
    ],
)
def test_a_conversation_that_makes_no_sense_is_refused_by_a_name(
    client: APIClient, file: Any, code: str
) -> None:
    answer = bring_in(client, [examples.chatgpt(conversation_id="fine"), file]).json()
    assert [one["code"] for one in answer["refused"]] == [code]
    assert len(answer["imported"]) == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file_empty"),
        (b"PK\x03\x04", "invalid_value"),
        (b"[", "invalid_json"),
        (b'"text"', "invalid_json"),
        (b"{]", "invalid_json"),
        (b"[{}]", "invalid_value"),
        (b"{} {}", "invalid_value"),
        (b'{"format": "turnwire.session"}', "invalid_value"),
        (b"[" * 100_000, "invalid_json"),
        (b'{"mapping": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "json_too_deep"),
    ],
)
def test_a_file_of_another_kind_is_refused(client: APIClient, alice: User, content: bytes, code: str) -> None:
    answer = bring_in(client, content)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not Session.objects.filter(owner=alice).exists()


def test_a_file_that_was_cut_gives_what_is_whole(client: APIClient) -> None:
    whole = json.dumps([examples.chatgpt(), examples.open_webui()]).encode()
    answer = bring_in(client, whole[:-50]).json()
    assert len(answer["imported"]) == 1
    assert [one["code"] for one in answer["refused"]] == ["invalid_json"]


def test_characters_that_cannot_be_stored_are_replaced(client: APIClient) -> None:
    messages = [_message("1", "", isCreatedByUser=True, text="a\0b")]
    assert branches(stored(bring_in(client, examples.librechat(messages=messages)))) == [["a\ufffdb"]]


def test_deep_arguments_of_a_call_are_refused(client: APIClient) -> None:
    deep = "[" * 200 + "]" * 200
    part = {"type": "tool_call", "tool_call": {"name": "a", "args": f'{{"x": {deep}}}'}}
    file = examples.librechat(messages=[_message("1", "", content=[part])])
    answer = bring_in(client, [examples.chatgpt(), file]).json()
    assert [one["code"] for one in answer["refused"]] == ["json_too_deep"]


@pytest.mark.parametrize(
    "text",
    [
        '<details type="reasoning">' * 50_000,
        '<details type="reasoning"' * 50_000,
        '<details type="tool_calls" ' + "a" * 1_000_000 + "></details>",
        '<details type="tool_calls" ' + 'a="' * 300_001 + "></details>",
        '<details type="reasoning">' + " " * 1_000_000 + "x</details>",
        "\ue200" * 1_000_000,
    ],
    ids=["open", "cut", "word", "quotes", "blank", "marks"],
)
def test_odd_texts_are_read_in_one_pass(client: APIClient, text: str) -> None:
    """Millions of characters twice over would take hours."""
    chat = examples.open_webui()
    chat["chat"]["history"]["messages"]["a1"]["content"] = text
    conversation = examples.chatgpt()
    conversation["mapping"]["again"]["message"]["content"]["parts"] = [text]
    assert bring_in(client, [chat, conversation]).json()["refused"] == []


def test_sources_of_chatgpt_become_links_where_they_stand(client: APIClient) -> None:
    conversation = examples.chatgpt()
    message = conversation["mapping"]["again"]["message"]
    message["content"]["parts"] = ["High \ue200cite\ue201 and low \ue200cite\ue201."]
    message["metadata"]["content_references"] = [
        {
            "matched_text": "\ue200cite\ue201",
            "start_idx": 5,
            "end_idx": 11,
            "alt": "([Sea](https://sea.example/))",
        }
    ] * 1_000
    texts = [path[-1] for path in branches(stored(bring_in(client, [conversation])))]
    assert "High ([Sea](https://sea.example/)) and low ." in texts


def test_answers_that_share_a_long_message_do_not_multiply_without_end(
    client: APIClient, alice: User
) -> None:
    messages = [_message("q", "", isCreatedByUser=True), _message("long", "q", text="x" * 1_000_000)]
    messages += [_message(f"end{n}", "long") for n in range(100)]
    answer = bring_in(client, [examples.chatgpt(), examples.librechat(messages=messages)]).json()
    assert [one["code"] for one in answer["refused"]] == ["body_too_large"]
    assert Session.objects.filter(owner=alice).count() == 1


def test_the_quota_of_sessions_ends_an_import(client: APIClient, settings: Any) -> None:
    settings.MAX_SESSIONS_PER_USER = 1
    answer = bring_in(client, [examples.chatgpt(conversation_id=f"c-{n}") for n in range(3)]).json()
    assert (len(answer["imported"]), len(answer["refused"])) == (1, 1)
    assert (answer["refused"][0]["code"], answer["is_complete"]) == ("too_many_sessions", False)


def test_two_users_import_the_same_file_each_for_themselves(client: APIClient, alice: User) -> None:
    bring_in(client, [examples.chatgpt()])
    bob = APIClient()
    bob.force_authenticate(User.objects.create_user("bob"))
    assert bring_in(bob, [examples.chatgpt()]).json()["imported"][0]["is_new"] is True
    assert Session.objects.filter(owner=alice).count() == 1


_DETAILS = (
    '<details type="tool_calls" done="true" id="t1" name="sea" arguments="{}" result="high">\n</details>\n'
)
_ITEM = {"type": "function_call", "name": "sea", "arguments": "{}"}


def _shown(text: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def _of_open_webui(**answer: Any) -> dict[str, Any]:
    chat = examples.open_webui()
    chat["chat"]["history"]["messages"]["a1"] |= answer
    return chat


@pytest.mark.parametrize(
    ("read", "chat"),
    [
        (open_webui.read, _of_open_webui(content=f"Look.\n{_DETAILS}Again.\n{_DETAILS}Two metres.")),
        (
            open_webui.read,
            _of_open_webui(
                content="Look.\n\nAgain.\n\nTwo metres.",
                output=[_shown("Look."), _ITEM, _shown("Again."), _ITEM, _shown("Two metres.")],
            ),
        ),
        (
            librechat.read,
            examples.librechat(
                messages=[
                    _message(
                        "1",
                        "",
                        text="",
                        content=[
                            {"type": "text", "text": "Look."},
                            {"type": "tool_call", "tool_call": {"id": "t1", "name": "sea"}},
                            {"type": "text", "text": "Again."},
                            {"type": "tool_call", "tool_call": {"id": "t2", "name": "sea"}},
                            {"type": "text", "text": "Two metres."},
                        ],
                    )
                ]
            ),
        ),
    ],
)
def test_words_and_calls_stay_in_their_order(read: Any, chat: dict[str, Any]) -> None:
    messages = tree.build(read(json.dumps(chat).encode())).session["messages"]
    answer = next(message for message in messages if "tool_calls" in message)
    assert [(call["turn_number"], call["text_before"]) for call in answer["tool_calls"]] == [
        (0, "Look."),
        (1, "Again."),
    ]
    assert answer["text"] == "Look.Again.Two metres."


def test_calls_of_claude_behind_a_result_are_another_round() -> None:
    chat = examples.claude()
    content = chat["chat_messages"][1]["content"]
    content[4:4] = [
        {**block, **{name: "t2" for name in ("id", "tool_use_id") if name in block}} for block in content[2:4]
    ]
    messages = tree.build(claude.read(json.dumps(chat).encode())).session["messages"]
    answer = next(message for message in messages if "tool_calls" in message)
    assert [(call["turn_number"], call["text_before"]) for call in answer["tool_calls"]] == [
        (0, "Let me look."),
        (1, ""),
    ]
