"""Images that tools returned, in the archive of a session: exported with its calls, and theirs after the import."""

import json
from hashlib import sha256
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import Run, ToolCall, ToolCallImage
from chat.sessions.portable import format as f
from knowledge.models import File
from tests import factories
from tests.chat.sessions.portable.archives import (
    MOMENT,
    TIDES,
    bring_in,
    manifest_of,
    packed,
    take_out,
    unpacked,
)
from tests.chat.sessions.portable.test_archives import PICTURE, store

CHART = {"name": "chart, image 1", "entry": "files/1", "kind": "image", "sha256": sha256(PICTURE).hexdigest()}


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> Any:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def add_call(run: Run, tab: int, **place: Any) -> ToolCall:
    return ToolCall.objects.create(
        run=run,
        turn_number=0,
        tab_index=tab,
        tool_call_id=f"c{tab}",
        name="chart",
        status="completed",
        **place,
    )


@pytest.fixture
def chart(client: APIClient, session: str, alice: User) -> File:
    """The image of two calls, one of them inside the other."""
    run_id = factories.complete_turn(client, session, "Draw it.")["runs"][0]["id"]
    run = Run.objects.get(pk=run_id)
    file = store(alice, "chart, image 1", PICTURE, kind="image", width_px=1, height_px=1, is_tool_image=True)
    outer = add_call(run, 0, message=run.message)
    for call in (outer, add_call(run, 1, parent_tool_call=outer)):
        ToolCallImage.objects.create(tool_call=call, file=file, position=0)
    return file


def test_images_are_exported_with_their_calls_and_are_theirs_again(
    client: APIClient, session: str, chart: File
) -> None:
    archive = take_out(client, session)
    assert set(unpacked(archive)) == {"files/1", "manifest.json"}
    found = manifest_of(archive)
    [call] = found["messages"][2]["tool_calls"]
    assert found["version"] == f.IMAGES_VERSION
    assert call["images"] == call["children"][0]["images"]
    [image] = call["images"]
    assert CHART.items() <= image.items()
    bob = factories.create_user("bob")
    response = bring_in(factories.api_client(bob), archive)
    assert response.status_code == 201, response.json()
    new = File.objects.get(owner=bob)
    assert (new.is_tool_image, new.kind, new.status) == (True, "image", "processing")
    calls = ToolCall.objects.filter(run__turn__session=response.json()["id"])
    assert [list(call.images.values_list("file", "position")) for call in calls] == [[(new.pk, 0)]] * 2
    File.objects.filter(pk=new.pk).update(status="ready", width_px=1, height_px=1)
    again = take_out(factories.api_client(bob), response.json()["id"])
    assert unpacked(again)["files/1"] == PICTURE


def test_json_has_no_images(client: APIClient, session: str, chart: File) -> None:
    response = client.get(f"/api/sessions/{session}/export/")
    found = json.loads(b"".join(response.streaming_content))
    assert found["version"] == f.VERSION
    assert "images" not in found["messages"][2]["tool_calls"][0]


def drawn(*images: dict[str, Any], files: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
    """The messages of an answer whose call returned these images."""
    call = {"tool_call_id": "c", "name": "chart", "turn_number": 0, "images": list(images)}
    question = {
        "id": 1,
        "role": "user",
        "parent": 0,
        "sent_at": MOMENT,
        "text": "?",
        "files": list(files),
        "latest_child": 2,
    }
    run = {"model": "m", "created_at": MOMENT}
    answer = {"id": 2, "role": "assistant", "parent": 1, "sent_at": MOMENT, "tool_calls": [call], "run": run}
    return [{"id": 0, "role": "root", "sent_at": MOMENT, "latest_child": 1}, question, answer]


@pytest.mark.parametrize(
    ("entries", "messages", "field"),
    [
        ({}, drawn(CHART), "messages.2.tool_calls.0.images.0.entry"),
        ({"files/1": PICTURE}, drawn(CHART, files=(CHART,)), "messages.2.tool_calls.0.images.0.entry"),
        ({"files/1": PICTURE}, drawn({**CHART, "sha256": None}), "messages.2.tool_calls.0.images.0.sha256"),
        ({"files/1": PICTURE}, drawn(*[CHART] * 9), "messages.2.tool_calls.0.images"),
        ({"files/1": TIDES}, drawn({**CHART, "sha256": sha256(TIDES).hexdigest()}), "files/1"),
        ({"files/1": PICTURE}, drawn(), None),
    ],
    ids=["no entry", "a file as well", "no digest", "too many", "no image", "not named"],
)
def test_an_archive_is_refused_as_a_whole(
    client: APIClient,
    media: Any,
    entries: dict[str, bytes],
    messages: list[dict[str, Any]],
    field: str | None,
) -> None:
    refused = bring_in(client, packed(entries, version=5, messages=messages))
    assert refused.status_code == 400, refused.json()
    assert refused.json().get("field") == field
    assert not ToolCall.objects.exists()
    assert [path for path in media.rglob("*") if path.is_file()] == []


def test_an_image_that_was_lost_is_left_out(client: APIClient, session: str, chart: File) -> None:
    chart.content.storage.delete(str(chart.content.name))
    archive = take_out(client, session)
    assert bring_in(client, archive).status_code == 201
    assert ToolCallImage.objects.count() == 2


@pytest.mark.parametrize("limit", ["files", "bytes"])
def test_of_more_images_than_an_import_takes_the_latest_are_exported(
    client: APIClient, session: str, chart: File, settings: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    run = Run.objects.get()
    late = store(
        run.turn.session.owner, "late", PICTURE, kind="image", width_px=1, height_px=1, is_tool_image=True
    )
    ToolCallImage.objects.create(tool_call=add_call(run, 2, message=run.message), file=late, position=0)
    if limit == "files":
        monkeypatch.setattr(f, "MAX_ALL_FILES", 2)
    else:
        settings.MAX_IMPORT_BYTES = len(PICTURE) * 2
    found = manifest_of(take_out(client, session))["messages"][2]["tool_calls"]
    names = [
        image["name"]
        for call in found
        for one in (call, *call.get("children", ()))
        for image in one.get("images", ())
    ]
    assert sorted(names) == (["chart, image 1", "late"] if limit == "files" else ["chart, image 1"])


def test_images_wait_to_be_read_as_files_do(client: APIClient, alice: User, settings: Any) -> None:
    settings.MAX_WAITING_FILES_PER_USER = 1
    File.objects.create(owner=alice, name="waits")
    refused = bring_in(client, packed({"files/1": PICTURE}, version=5, messages=drawn(CHART)))
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_waiting_files")
