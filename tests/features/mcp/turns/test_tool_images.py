"""Images that tools of MCP servers return: stored, read as uploads are, and shown to models that see."""

import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from chat.models import ModelConfig, Run, Session, StoredBytes, ToolCall, ToolCallImage
from chat.models.sql.messages import SIZES
from chat.protocol import wire
from chat.protocol.call_answers import ToolImageAnswer
from chat.protocol.states import Status
from chat.transcript.tokens import picture_tokens
from ingest.extraction import extract
from knowledge.files import blobs
from knowledge.models import DeletedBlob, File
from llm_worker.attempt import round_store
from tests import factories
from tests.features.mcp.turns.test_mcp_turns import call, server, session
from tests.llm_worker import screens
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import wait_for_text
from tests.tool_fixtures import tool_responses

__all__ = ["server", "session"]  # fixtures

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def reader():
    with reading():
        yield


@contextmanager
def reading():
    """Reads files as the ingest process does, until the end of the block."""
    is_over = threading.Event()

    def read() -> None:
        while not is_over.wait(0.05):
            extract("")
        connection.close()

    with ThreadPoolExecutor(1) as threads:
        reads = threads.submit(read)
        try:
            yield
        finally:
            is_over.set()
            reads.result(60)


@pytest.fixture
def seeing(server, session):
    ModelConfig.objects.update(supports_vision=True)
    return session


def images_in(request: Any) -> list[tuple[int, bytes]]:
    """(place of the message, content) of each image of a request."""
    found = []
    for place, message in enumerate(request.messages):
        parts = message["content"] if isinstance(message["content"], list) else []
        found += [
            (place, b64decode(part["image_url"]["url"].partition(",")[2]))
            for part in parts
            if part["type"] == "image_url"
        ]
    return found


def test_a_model_that_sees_is_shown_the_image_behind_the_responses_and_in_later_turns(
    seeing,
    reader,
    answer,
    upstream,
):
    run = answer(call("dot"), call("echo", text="Ebbe"))
    assert run.status == Status.COMPLETED, run.error_code
    request = upstream.requests[-1]
    assert tool_responses(request) == ["(An image of 70 bytes, image/png.)", "echo: Ebbe"]
    [(place, content)] = images_in(request)
    assert [message["role"] for message in request.messages[place - 3 :]] == [
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    named = "[Images that the tools returned, in this order: tests__dot, image 1]"
    assert request.messages[place]["content"][0] == {"type": "text", "text": named}
    assert content.startswith(PNG)
    assert content == blobs.read_whole(str(File.objects.get().content.name)), "as it was encoded anew"
    answer()
    later = upstream.requests[-1]
    assert images_in(later) == [(place, content)], "in the same place"
    assert later.messages[place] == request.messages[place]


def test_its_tokens_count_for_the_history_that_a_summary_is_chosen_by(seeing, reader, answer):
    run = answer(call("dot"))
    sizes = [row for row in SIZES.all(leaf=run.message_id) if not row.is_question]
    assert [row.image_tokens for row in sizes] == [picture_tokens(1, 1)]
    ToolCall.objects.filter(run=run).update(status="unknown")
    assert [row.image_tokens for row in SIZES.all(leaf=run.message_id)] == [0, 0]


def test_a_model_that_does_not_see_is_told_so_and_the_user_sees_it(server, reader, answer, upstream):
    run = answer(call("dot"))
    request = upstream.requests[-1]
    assert images_in(request) == []
    assert tool_responses(request) == [
        "(An image of 70 bytes, image/png.)\n\n(This model cannot see images.)"
    ]
    alice = factories.api_client(run.turn.session.owner)
    *_, shown = alice.get(f"/api/sessions/{run.turn.session_id}/messages/").json()
    [image] = shown["tool_calls"][0]["images"]
    assert image == {"id": str(File.objects.get().pk), "name": "tests__dot, image 1", "width": 1, "height": 1}
    [output] = [one.obj for one in screens.entries(run) if isinstance(one.obj, wire.ToolOutput)]
    assert output.images == [ToolImageAnswer(**image)]
    assert screens.live(run) == screens.rebuilt(run)


def test_the_image_is_loaded_by_its_owner_alone_and_is_in_no_list(seeing, reader, answer):
    run = answer(call("dot"))
    file = File.objects.get()
    alice = factories.api_client(run.turn.session.owner)
    other = factories.api_client(factories.create_user("mallory"))
    for part in ("content", "thumbnail"):
        address = f"/api/files/{file.pk}/{part}/"
        assert (alice.get(address).status_code, other.get(address).status_code) == (200, 404)
    assert alice.get("/api/files/").json()["results"] == []
    address = f"/api/files/{file.pk}/"
    assert (alice.get(address).json()["name"], other.get(address).status_code) == ("tests__dot, image 1", 404)
    assert alice.delete(f"/api/files/{file.pk}/").status_code == 404
    sent = factories.send_turn(alice, str(run.turn.session_id), "And?", files=[str(file.pk)])
    assert sent.status_code == 404


def test_the_image_goes_with_the_last_chat_that_has_it_and_counts_until_then(seeing, reader, answer):
    run = answer(call("dot"))
    file, source = File.objects.get(), run.turn.session
    assert StoredBytes.objects.sum_of(source.owner_id) >= file.size_bytes > 0
    alice = factories.api_client(source.owner)
    forked = alice.post(f"/api/sessions/{source.pk}/fork/", {"message": str(run.message_id)}, format="json")
    assert forked.status_code == 201, forked.content
    assert ToolCallImage.objects.filter(file=file).count() == 2
    Session.objects.get(pk=source.pk).delete()
    assert File.objects.filter(pk=file.pk).exists(), "the fork has it"
    Session.objects.all().delete()
    assert not File.objects.exists()
    paths = set(DeletedBlob.objects.values_list("path", flat=True))
    assert {str(file.content.name), file.thumbnail} <= paths


def test_the_image_goes_with_the_account(seeing, reader, answer):
    owner = answer(call("dot")).turn.session.owner
    file = File.objects.get()
    owner.delete()
    assert not File.objects.exists()
    assert DeletedBlob.objects.filter(path=str(file.content.name)).count() == 1


def test_an_image_that_is_not_read_in_time_holds_up_no_answer(seeing, answer, upstream, monkeypatch):
    monkeypatch.setattr(round_store, "WAIT_S", 0.3)
    run = answer(call("dot"))
    assert run.status == Status.COMPLETED
    [response] = tool_responses(upstream.requests[-1])
    assert response.endswith("(1 of the 1 images cannot be shown.)")
    assert extract("")
    answer()
    assert len(images_in(upstream.requests[-1])) == 1, "later turns have it"


def test_an_owner_without_room_is_told_and_nothing_is_stored(seeing, answer, upstream, settings):
    settings.MAX_STORED_BYTES_PER_USER = 1
    run = answer(call("dot"))
    assert run.status == Status.COMPLETED
    [response] = tool_responses(upstream.requests[-1])
    assert response.endswith("(1 of the 1 images cannot be shown.)")
    assert not File.objects.exists()


def test_no_image_is_in_a_text_of_the_database_or_in_the_packets(seeing, reader, answer):
    run = answer(call("dot"))
    [row] = ToolCall.objects.filter(run=run)
    assert "iVBOR" not in row.response
    assert not any("iVBOR" in repr(entry) for entry in screens.entries(run))


def goes_on(run: Run) -> None:
    """Another worker ends the run."""
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Status.COMPLETED, 2), run.error_code


def test_a_worker_that_takes_the_run_over_sends_the_image_that_another_has_stored(
    seeing, reader, ask, deliver, runtime, upstream
):
    upstream.reply(call("dot"), times=1)
    upstream.reply({"text": "I see "}, {"hang": True}, times=1)
    upstream.reply({"text": "I see a dot."})
    [run] = ask("Go", "plain", session=seeing)
    delivered = deliver(run)
    wait_for_text(upstream, run, len("I see "))
    runtime.drain(0)
    assert delivered.result(60)
    goes_on(run)
    _, before, after = upstream.requests
    assert len(images_in(before)) == 1
    assert after.messages == before.messages
    assert screens.live(run) == screens.rebuilt(run)


def test_a_call_that_is_made_again_replaces_the_images_that_it_had_stored(
    seeing, ask, deliver, runtime, upstream
):
    upstream.reply(call("dot"), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", "plain", session=seeing)
    delivered = deliver(run)
    upstream.wait_for(File.objects.exists)
    [former] = File.objects.all()
    runtime.drain(0)
    assert delivered.result(60)
    with reading():
        goes_on(run)
    [image] = ToolCallImage.objects.all()
    assert image.file_id != former.pk
    assert not File.objects.filter(pk=former.pk).exists()
    assert len(images_in(upstream.requests[-1])) == 1
