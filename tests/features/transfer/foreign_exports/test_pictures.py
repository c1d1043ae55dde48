"""Pictures that an export has as data URLs become files of their questions; what is wrong with one is a remark, and no more."""

import io
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import MessageFile, Session, StoredBytes, ToolCall
from features.transfer.foreign_exports import inline_pictures
from knowledge.models import File
from tests.features.transfer.foreign_exports import examples
from tests.features.transfer.foreign_exports.test_import import bring_in
from tests.features.transfer.foreign_exports.test_zip import contents_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def png(width: int = 2) -> bytes:
    from PIL import Image

    output = io.BytesIO()
    Image.new("RGB", (width, 2), "red").save(output, "PNG")
    return output.getvalue()


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def open_webui(question: dict[str, Any], answer: dict[str, Any] | None = None) -> dict[str, Any]:
    asked = {"role": "user", "content": "What is this?", "timestamp": examples.T} | question
    said = {"role": "assistant", "parentId": "q", "content": "A sea.", "timestamp": examples.T} | (
        answer or {}
    )
    return examples.open_webui(chat={"history": {"messages": {"q": asked, "a": said}}})


def librechat(question: dict[str, Any]) -> dict[str, Any]:
    asked = {
        "messageId": "q",
        "isCreatedByUser": True,
        "text": "What is this?",
        "createdAt": "2023-11-14T22:13:20Z",
    }
    return examples.librechat(messages=[asked | question])


def files() -> list[tuple[str, str, int, str]]:
    rows = MessageFile.objects.order_by("message", "position").select_related("file", "message")
    assert {one.message.role for one in rows} <= {"user"}
    return [(one.file.name, one.file.kind, one.file.size_bytes, one.file.error_code) for one in rows]


def texts() -> list[str]:
    return [row.text for row in Session.objects.get().messages.exclude(parent=None).order_by("parent_role")]


URL = data_url(png())


@pytest.mark.parametrize(
    ("chat", "name"),
    [
        pytest.param(open_webui({"files": [{"type": "image", "url": URL}]}), "image.png", id="Open WebUI"),
        pytest.param(open_webui({"files": [{"type": "image", "name": "sea.png", "url": URL}]}), "sea.png", id="Open WebUI with a name"),
        pytest.param(open_webui({"content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": URL}}]}), "image.png", id="parts"),
        pytest.param(open_webui({"content": [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": URL}]}), "image.png", id="parts of the Responses API"),
        pytest.param(librechat({"files": [{"filename": "sea.jpg", "type": "image/png", "filepath": URL}]}), "sea.jpg", id="LibreChat"),
        pytest.param(librechat({"image_urls": [{"type": "image_url", "image_url": {"url": URL}}]}), "image.png", id="LibreChat beside the text"),
        pytest.param(librechat({"text": None, "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": URL}}]}), "image.png", id="LibreChat's parts"),
    ],
)  # fmt: skip
def test_a_picture_is_a_file_of_its_question(
    client: APIClient, alice: User, media: Path, chat: dict[str, Any], name: str
) -> None:
    answer = bring_in(client, [chat]).json()
    assert (answer["refused"], answer["remarks"]) == ([], [])
    assert files() == [(name, "image", len(png()), "")]
    assert contents_in(media) == [png()]
    assert Session.objects.get().messages.get(role="user").text == "What is this?"
    assert StoredBytes.objects.sum_of(alice.pk) >= len(png())


def test_a_picture_in_the_text_of_a_question_is_named_there(client: APIClient, media: Path) -> None:
    chat = open_webui({"content": f"Compare ![chart 1]({URL}) and ![]({data_url(png(3))}), not {URL}"})
    answer = bring_in(client, [chat]).json()
    assert (answer["refused"], answer["remarks"]) == ([], [])
    assert [one[0] for one in files()] == ["chart 1.png", "image.png"]
    assert texts() == [f"Compare [chart 1] and [image], not {URL}", "A sea."]
    assert contents_in(media) == sorted([png(), png(3)])


def test_a_question_that_is_nothing_but_a_picture_has_no_text(client: APIClient) -> None:
    bring_in(client, [open_webui({"content": URL})])
    assert (texts()[0], [one[0] for one in files()]) == ("", ["image.png"])


def test_data_urls_in_code_stay_as_they_are(client: APIClient) -> None:
    code = f'<img src="{URL}"> {{"a": "{URL}"}}'
    bring_in(client, [open_webui({"content": code})])
    assert (texts()[0], files()) == (code, [])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        (data_url(b"x" * 3_000), "file_too_large"),
        (data_url(b"no picture at all"), "file_type_mismatch"),
        (data_url(b""), "file_empty"),
        ("data:image/png;base64,AAA=AAAA", "invalid_value"),
        ("data:image/png;base64,A!", "invalid_value"),
        ("data:image/png,plain", "invalid_value"),
        ("data:;picture=99", "invalid_value"),
    ],
)
def test_a_bad_picture_is_a_remark(
    client: APIClient, media: Path, settings: Any, url: str, code: str
) -> None:
    settings.MAX_FILE_BYTES = 2_000
    chat = open_webui({"files": [{"type": "image", "url": url}, {"type": "image", "url": URL}]})
    answer = bring_in(client, [chat]).json()
    assert (answer["refused"], len(answer["imported"])) == ([], 1)
    (remark,) = answer["remarks"]
    assert (remark["code"], remark["field"]) == (code, "0.chat.history.messages.q")
    assert remark["message"].startswith("image")
    assert [one[3] for one in files()] == ["content_missing", ""]
    assert contents_in(media) == [png()]


def test_pictures_of_answers_and_calls_leave_words_and_a_remark(client: APIClient) -> None:
    output = [
        {"type": "function_call", "name": "draw", "arguments": json.dumps({"like": 1}), "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": URL},
    ]
    chat = open_webui({}, {"content": f"Here: ![a sea]({URL})", "output": output})
    (remark,) = bring_in(client, [chat]).json()["remarks"]
    assert remark["field"] == "0.chat.history.messages.a"
    assert (texts()[1], ToolCall.objects.get().response, files()) == ("Here: [a sea]", "[picture]", [])


def test_a_picture_that_an_answer_has_as_a_file_is_remarked(client: APIClient) -> None:
    chat = open_webui({}, {"files": [{"type": "image", "url": URL}]})
    (remark,) = bring_in(client, [chat]).json()["remarks"]
    assert (remark["field"], files()) == ("0.chat.history.messages.a", [])


def test_more_pictures_than_a_message_may_have_are_remarked(client: APIClient) -> None:
    chat = open_webui({"files": [{"type": "image", "url": URL}] * 52})
    answer = bring_in(client, [chat]).json()
    assert [one["code"] for one in answer["remarks"]] == ["too_many_files"]
    assert len(files()) == 50


def test_pictures_beyond_the_limit_of_a_chat_are_remarked(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline_pictures, "MAX_PICTURES", 1)
    chat = open_webui({"files": [{"type": "image", "url": URL}] * 2})
    answer = bring_in(client, [chat]).json()
    assert [one["code"] for one in answer["remarks"]] == ["invalid_value"]
    assert [one[3] for one in files()] == ["", "content_missing"]


def test_pictures_count_for_no_limit_of_a_conversation(
    client: APIClient, monkeypatch: pytest.MonkeyPatch, media: Path
) -> None:
    monkeypatch.setattr(inline_pictures.f, "MAX_BYTES", 3_000)
    large = png() + b"\0" * 10_000
    answer = bring_in(client, [open_webui({"files": [{"type": "image", "url": data_url(large)}]})]).json()
    assert (answer["refused"], contents_in(media)) == ([], [large])


def test_without_room_the_import_ends_and_goes_on_later(
    client: APIClient, alice: User, settings: Any
) -> None:
    settings.MAX_STORED_BYTES_PER_USER = 10
    chat = open_webui({"files": [{"type": "image", "url": URL}]})
    first = bring_in(client, [chat]).json()
    assert ([one["code"] for one in first["refused"]], first["is_complete"]) == (["storage_full"], False)
    assert not File.objects.filter(owner=alice).exists()
    settings.MAX_STORED_BYTES_PER_USER = 1_000_000
    assert bring_in(client, [chat]).json()["is_complete"] is True
    assert [one[3] for one in files()] == [""]


def test_lines_of_remarks_are_those_of_the_file(client: APIClient) -> None:
    chat = open_webui({"files": [{"type": "image", "url": URL}]}, {"content": ""})
    text = json.dumps([examples.chatgpt(), chat], indent=1)
    (remark,) = bring_in(client, text.encode()).json()["remarks"]
    assert text.splitlines()[remark["line"] - 1].strip() == '"a": {'


def test_slashes_that_are_escaped_are_read(client: APIClient, media: Path) -> None:
    text = json.dumps(
        [
            open_webui(
                {"files": [{"type": "image", "url": data_url(b"\x89PNG\r\n\x1a\n" + b"\xff" * 600_000)}]}
            )
        ]
    )
    bring_in(client, text.replace("/", "\\/").encode())
    assert [len(one) for one in contents_in(media)] == [600_008]
