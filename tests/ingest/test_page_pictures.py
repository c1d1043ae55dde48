"""Pages of a PDF that are pictures are drawn for models that see, and stored with their document."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.test import override_settings

from chat.models import ChatMessage, MessageFile
from chat.sessions.deletion import delete_for_good
from ingest import extraction
from ingest.extraction import extract
from knowledge.files import blobs
from knowledge.models import DeletedBlob, File, Project
from tests import factories
from tests.ingest.test_ocr import read, scan


def test_unread_pages_are_drawn_large_enough_to_be_read(tmp_path: Path) -> None:
    from PIL import Image

    outcome, _ = read(tmp_path, scan("Low water at nine", "High water at three"))
    assert [(one.page, one.width_px, one.height_px) for one in outcome.page_pictures] == [
        (1, 905, 1280),
        (2, 905, 1280),
    ]
    with Image.open(tmp_path / "page-2.jpg") as picture:
        assert (picture.format, picture.size) == ("JPEG", (905, 1280))
        assert picture.convert("L").point(lambda tone: 255 * (tone < 128)).getbbox(), (
            "something is written on it"
        )


def test_of_many_unread_pages_the_first_ten_are_drawn(tmp_path: Path) -> None:
    outcome, _ = read(tmp_path, scan(*[f"Page {number}" for number in range(1, 13)]))
    assert outcome.reading.unread_pages == 12
    assert [one.page for one in outcome.page_pictures] == list(range(1, 11))


@pytest.fixture
def document(db: None) -> File:
    """A scan of two pages of alice's that has been read."""
    client, _ = factories.session_of_alice()
    owner = client.handler._force_user  # type: ignore[attr-defined]
    return read_document(owner, scan("Low water at nine", "High water at three"))


def read_document(owner: Any, content: bytes, **more: Any) -> File:
    file = File(owner=owner, name="scan.pdf", content_type="application/pdf", size_bytes=len(content), **more)
    file.content.save("scan.pdf", ContentFile(content))
    assert extract(str(file.pk))
    file.refresh_from_db()
    assert file.status == "ready", file.error_code
    return file


def test_pictures_stay_that_a_committed_end_names_although_its_reply_is_lost(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_ready = extraction._end_ready

    def lose_the_reply(*arguments: Any) -> bool:
        assert end_ready(*arguments)
        raise OperationalError

    monkeypatch.setattr(extraction, "_end_ready", lose_the_reply)
    monkeypatch.setattr(extraction, "DATABASE_RETRY_S", 0)
    content = scan("Low water at nine")
    owner = factories.create_user("alice")
    file = File(owner=owner, name="scan.pdf", content_type="application/pdf", size_bytes=len(content))
    file.content.save("scan.pdf", ContentFile(content))
    extract(str(file.pk))
    file.refresh_from_db()
    assert file.status == "ready"
    assert default_storage.exists(str(File.objects.get(page=1).content.name))


def send(document: File, *models: str) -> list[MessageFile]:
    """Send the document with a question; how it is attached."""
    alice = factories.api_client(document.owner)
    session = alice.post("/api/sessions/", {}, format="json").json()["id"]
    chosen = {"models": list(models)} if models else {}
    sent = factories.send_turn(alice, session, "When is low water?", files=[str(document.pk)], **chosen)
    assert sent.status_code == 202, sent.content
    [question] = ChatMessage.objects.filter(session_id=session, role="user")
    shown = alice.get(f"/api/sessions/{session}/messages/").json()
    assert [file["name"] for message in shown for file in message.get("files", [])] == ["scan.pdf"], (
        "as it was sent"
    )
    return list(MessageFile.objects.filter(message=question).select_related("file"))


def test_a_sent_scan_has_its_pages_beside_it_and_the_user_sees_one_file(document: File) -> None:
    factories.create_model("sees", supports_vision=True, context_window=128_000)
    attached = send(document, "sees")
    assert [(one.file.page, one.number) for one in attached] == [(None, 1), (1, None), (2, None)]
    alice = factories.api_client(document.owner)
    [listed] = alice.get("/api/files/").json()["results"]
    assert (listed["name"], listed["unread_pages"], listed["shown_pages"]) == ("scan.pdf", 2, 2)
    [page] = [one.file for one in attached if one.file.page == 1]
    assert alice.get(f"/api/files/{page.pk}/").status_code == 404
    assert blobs.read_whole(str(page.content.name)).startswith(b"\xff\xd8")


def test_pages_leave_three_quarters_of_the_smallest_window_to_the_conversation(document: File) -> None:
    """A page has 57 by 80 patches."""
    factories.create_model("large", supports_vision=True, context_window=128_000)
    factories.create_model("small", supports_vision=True, context_window=32_000)
    assert [one.file.page for one in send(document, "large", "small")] == [None, 1]


def test_for_models_that_do_not_see_pages_are_kept_as_large_as_those_that_do_may_have_them(
    document: File,
) -> None:
    assert [one.file.page for one in send(document)] == [None], "nobody sees"
    factories.create_model("sees", supports_vision=True, context_window=128_000)
    assert [one.file.page for one in send(document)] == [None, 1, 2]


def test_the_pages_go_with_their_document(document: File) -> None:
    paths = {str(one.content.name) for one in File.objects.filter(page_of=document)}
    assert len(paths) == 2
    factories.api_client(document.owner).delete(f"/api/files/{document.pk}/")
    assert not File.objects.exists()
    assert paths <= set(DeletedBlob.objects.values_list("path", flat=True))


def test_the_pages_of_a_document_in_a_project_outlive_a_chat(document: File) -> None:
    """Without them, no later chat would see what the pages show."""
    factories.create_model("sees", supports_vision=True, context_window=128_000)
    session = send(document)[0].message.session
    document.project = Project.objects.create(owner=document.owner, name="Tides")
    document.save()
    pages = set(File.objects.filter(page_of=document))
    delete_for_good(session)
    assert set(File.objects.filter(page_of=document)) == pages != set()


def test_the_pages_go_with_the_last_chat_of_their_document(document: File) -> None:
    factories.create_model("sees", supports_vision=True, context_window=128_000)
    delete_for_good(send(document)[0].message.session)
    assert not File.objects.exists()


def test_reading_again_replaces_pages_that_no_message_has(document: File) -> None:
    factories.create_model("sees", supports_vision=True, context_window=32_000)
    sent = {one.file_id for one in send(document)} - {document.pk}
    before = set(File.objects.filter(page_of=document).values_list("pk", flat=True))
    assert len(sent) == 1
    assert document.start_again()
    assert extract(str(document.pk))
    after = set(File.objects.filter(page_of=document).values_list("pk", flat=True))
    assert (len(after), after & before) == (3, sent)
    document.refresh_from_db()
    [again] = {one.file_id for one in send(document)} - {document.pk}
    assert again in after - before, "page 1 as it was read last, and once"


def test_no_pages_are_kept_that_have_no_room(db: None) -> None:
    client, _ = factories.session_of_alice()
    content = scan("Low water at nine")
    with override_settings(MAX_STORED_BYTES_PER_USER=len(content) + 1_000):
        document = read_document(client.handler._force_user, content)  # type: ignore[attr-defined]
    assert document.reading.unread_pages == 1
    assert not File.objects.filter(page_of=document).exists()


def test_documents_of_a_base_which_are_never_shown_whole_have_none(db: None) -> None:
    client, _ = factories.session_of_alice()
    base = client.post("/api/knowledge-bases/", {"name": "Tides"}, format="json").json()["id"]
    document = read_document(
        client.handler._force_user,  # type: ignore[attr-defined]
        scan("Low water at nine"),
        knowledge_base_id=base,
    )
    assert document.reading.unread_pages == 1
    assert not File.objects.filter(page_of=document).exists()
