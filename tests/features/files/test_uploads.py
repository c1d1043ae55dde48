"""Uploads: what is accepted and refused, listed, downloaded and deleted. No worker runs."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError
from django.test.client import BOUNDARY, MULTIPART_CONTENT
from rest_framework.test import APIClient

from chat.models import ChatMessage, MessageFile, ModelConfig
from chat.runs import new_files
from knowledge.files import blobs
from knowledge.models import Extraction, File, FileKind, Project
from tests import factories
from tests.concurrency import run_concurrently
from web.rest.uploads import TEXT_FIELDS

TIDES = b"Two tides a day."
PROGRAM = b"MZ\x90\x00\x03\x00\x00\x00" + b"\x00" * 64
FILES = "/api/files/"


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> Any:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def form(name: str = "tides.txt", content: bytes = TIDES, **fields: str) -> bytes:
    """The body as some client sends it, which cleans no name."""
    parts = [f'form-data; name="{field}"\r\n\r\n{value}'.encode() for field, value in fields.items()]
    parts.append(f'form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content)
    lines = b"".join(b"--%s\r\nContent-Disposition: %s\r\n" % (BOUNDARY.encode(), part) for part in parts)
    return lines + f"--{BOUNDARY}--\r\n".encode()


def upload(client: APIClient, name: str = "tides.txt", content: bytes = TIDES, **fields: str) -> Any:
    return client.post(FILES, form(name, content, **fields), content_type=MULTIPART_CONTENT)


def stored(media: Any) -> list[str]:
    return sorted(str(path.relative_to(media)) for path in media.rglob("*") if path.is_file())


def end(pk: str, **found: Any) -> None:
    """As a worker does."""
    file = File.objects.claim(pk)
    assert file is not None
    assert file.end_ready(Extraction(FileKind.TEXT, "text/plain", **found))


def end_picture(pk: str) -> None:
    """As a worker does."""
    file = File.objects.claim(pk)
    assert file is not None
    content = blobs.store(ContentFile(b"clean"), f"files/{pk}-1")
    thumbnail = blobs.store(ContentFile(b"RIFF-WEBP"), f"files/{pk}-1-thumbnail")
    assert file.end_ready(Extraction(FileKind.IMAGE, "image/png", "", 0, 8, 8, content, 5, thumbnail))


class TestUpload:
    def test_it_is_stored_under_its_id_and_processed_later(
        self, client: APIClient, alice: Any, media: Any
    ) -> None:
        response = upload(client)
        shape = response.json()
        assert response.status_code == 201
        assert shape == {
            "id": shape["id"], "name": "tides.txt", "content_type": "text/plain", "size": len(TIDES),
            "status": "processing", "token_count": 0, "kind": "text", "project": None,
            "created_at": shape["created_at"],
        }  # fmt: skip
        assert stored(media) == [f"files/{shape['id']}"]
        assert client.get(f"{FILES}{shape['id']}/").json() == shape

    def test_it_says_what_it_fits_once_it_is_ready(self, client: APIClient, alice: Any) -> None:
        ModelConfig.objects.filter(name="deep").update(context_window=1000, max_output_tokens=200)
        pk = upload(client).json()["id"]
        end(pk, text="Two tides a day.", token_count=751)
        shape = client.get(f"{FILES}{pk}/").json()
        assert (shape["status"], shape["token_count"]) == ("ready", 751)
        assert shape["fits"] == {"quick": True, "deep": False}
        File.objects.filter(pk=pk).update(token_count=750)
        assert client.get(f"{FILES}{pk}/").json()["fits"] == {"quick": True, "deep": True}

    def test_it_says_why_it_failed(self, client: APIClient) -> None:
        pk = upload(client).json()["id"]
        file = File.objects.claim(pk)
        assert file is not None
        assert file.end_failed("document_encrypted")
        shape = client.get(f"{FILES}{pk}/").json()
        assert shape["error"] == {
            "code": "document_encrypted",
            "message": "The document is protected by a password.",
        }
        assert "fits" not in shape

    def test_it_may_go_to_a_project(self, client: APIClient, alice: Any) -> None:
        project = str(Project.objects.create(owner=alice, name="Tides").pk)
        assert upload(client, project=project).json()["project"] == project
        theirs = str(Project.objects.create(owner=factories.create_user("bob"), name="Tides").pk)
        response = upload(client, project=theirs)
        assert (response.status_code, response.json()["code"]) == (404, "project_not_found")
        assert File.objects.count() == 1

    @pytest.mark.parametrize(
        ("name", "content", "status", "code"),
        [
            pytest.param("a.txt", b"", 400, "file_empty", id="empty"),
            pytest.param("a.txt", b"x" * 2001, 413, "file_too_large", id="too large"),
            pytest.param("a.pdf", PROGRAM, 415, "file_type_mismatch", id="a program as PDF"),
            pytest.param("a.docx", PROGRAM, 415, "file_type_mismatch", id="a program as Word document"),
            pytest.param("a.txt", PROGRAM, 415, "file_type_mismatch", id="a program as text"),
            pytest.param("a.png", b"<html></html>", 415, "file_type_mismatch", id="HTML as picture"),
            pytest.param("a.pdf", b"PK\x03\x04", 415, "file_type_mismatch", id="an archive as PDF"),
            pytest.param("a.csv", b"\x89PNG\r\n\x1a\n", 415, "file_type_mismatch", id="a picture as table"),
        ],
    )
    def test_bad_content_is_refused_and_leaves_nothing(
        self, client: APIClient, media: Any, settings: Any, name: str, content: bytes, status: int, code: str
    ) -> None:
        settings.MAX_FILE_BYTES = 2000
        response = upload(client, name, content)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert (stored(media), File.objects.count()) == ([], 0)

    def test_a_file_as_large_as_it_may_be_is_stored(self, client: APIClient, settings: Any) -> None:
        settings.MAX_FILE_BYTES = 2000
        assert upload(client, content=b"x" * 2000).status_code == 201

    def test_a_file_may_come_without_a_name(self, client: APIClient) -> None:
        body = form().replace(b'; filename="tides.txt"', b"")
        assert client.post(FILES, body, content_type=MULTIPART_CONTENT).json()["name"] == "file"

    def test_html_under_another_name_stays_inert(self, client: APIClient) -> None:
        shape = upload(client, "a.txt", b"<script>alert(1)</script>").json()
        assert shape["content_type"] == "text/plain"

    @pytest.mark.parametrize(
        ("sent", "shown"),
        [
            pytest.param("../../x", "x", id="a path"),
            pytest.param("..\\..\\x.txt", "x.txt", id="a path of Windows"),
            pytest.param("..", "file", id="no name"),
            pytest.param("/", "file", id="a slash"),
            pytest.param("", "file", id="empty"),
            pytest.param("x" * 4092 + ".txt", "x" * 251 + ".txt", id="4,096 characters"),
            pytest.param("ü" * 4096, "ü" * 255, id="4,096 characters of two bytes"),
            pytest.param("a\u202etxt.exe.md", "atxt.exe.md", id="RTL override"),
            pytest.param("a\x07\x1b[31mb.txt", "a[31mb.txt", id="control characters"),
            pytest.param("a\x00b.txt", "ab.txt", id="NUL"),
            pytest.param("  .hidden  ", "hidden", id="blanks and dots"),
            pytest.param("größe 水.txt", "größe 水.txt", id="an ordinary one"),
        ],
    )
    def test_names_are_cleaned_and_in_no_path(
        self, client: APIClient, media: Any, sent: str, shown: str
    ) -> None:
        shape = upload(client, sent).json()
        assert shape["name"] == shown
        assert stored(media) == [f"files/{shape['id']}"]

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            pytest.param(b"", "field_required", id="no body"),
            pytest.param(b"nonsense", "invalid_multipart", id="no form"),
            pytest.param(form()[:-20], "invalid_multipart", id="cut off"),
            pytest.param(form(file="x"), "invalid_multipart", id="twice the same field"),
            pytest.param(form(colour="blue"), "unknown_field", id="unknown field"),
            pytest.param(form(project="x" * 2000), "invalid_value", id="a long field"),
            pytest.param(form(project="no id"), "invalid_id", id="no id"),
            *(
                pytest.param(
                    form(**{name: "x"}).replace(b'"%s"' % name.encode(), b'"%s"; filename="a.txt"' % name.encode()),
                    "invalid_type", id=f"a file in the place of {name}",
                )
                for name in TEXT_FIELDS
            ),
            pytest.param(form().replace(b'name="file"; filename', b'name="data"; filename'), "unknown_field", id="other name"),
            pytest.param(f"--{BOUNDARY}--\r\n".encode(), "field_required", id="an empty form"),
            pytest.param(form(**{f"f{n}": "x" for n in range(30)}), "invalid_multipart", id="many fields"),
            pytest.param(form("x" * 100_000), "invalid_multipart", id="a header of 100 KB"),
        ],
    )  # fmt: skip
    def test_bad_forms_have_one_clear_error(
        self, client: APIClient, media: Any, body: bytes, code: str
    ) -> None:
        response = client.post(FILES, body, content_type=MULTIPART_CONTENT)
        assert (response.status_code, response.json()["code"]) == (400, code)
        assert stored(media) == []

    @pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data"])
    def test_other_bodies_are_refused(self, client: APIClient, kind: str) -> None:
        response = client.post(FILES, b"{}", content_type=kind)
        assert response.status_code in (400, 415)

    def test_a_page_uploads_with_its_csrf_token_alone(self, alice: Any) -> None:
        page = APIClient(enforce_csrf_checks=True)
        page.force_login(alice)
        refused = page.post(FILES, {"file": SimpleUploadedFile("a.txt", TIDES)}, format="multipart")
        assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
        page.cookies["csrftoken"] = "m" * 32
        body = {"file": SimpleUploadedFile("a.txt", TIDES)}
        assert (
            page.post(FILES, body, format="multipart", headers={"X-CSRFToken": "m" * 32}).status_code == 201
        )


class TestQuotas:
    def test_files_are_counted(self, client: APIClient, settings: Any, media: Any) -> None:
        settings.MAX_FILES_PER_USER = 1
        pk = upload(client).json()["id"]
        response = upload(client)
        assert (response.status_code, response.json()["code"], response.json()["max"]) == (
            409,
            "too_many_files",
            1,
        )
        assert len(stored(media)) == 1
        client.delete(f"{FILES}{pk}/")
        assert upload(client).status_code == 201

    def test_bytes_are_counted(self, client: APIClient, settings: Any) -> None:
        settings.MAX_STORED_BYTES_PER_USER = 20
        assert upload(client, content=b"x" * 12).status_code == 201
        response = upload(client, content=b"x" * 9)
        assert (response.status_code, response.json()["code"], response.json()["max"]) == (
            409,
            "storage_full",
            20,
        )
        assert upload(client, content=b"x" * 8).status_code == 201
        uses = {row["code"]: (row["used"], row["max"]) for row in client.get("/api/usage/limits/").json()}
        assert uses["files"] == (2, settings.MAX_FILES_PER_USER)

    @pytest.mark.django_db(transaction=True)
    def test_uploads_side_by_side_do_not_pass_the_limit_together(self, settings: Any, media: Any) -> None:
        settings.MAX_FILES_PER_USER = 3
        alice = factories.create_user("alice")
        statuses = run_concurrently(*[lambda: upload(factories.api_client(alice)).status_code] * 8)
        assert sorted(statuses) == [201] * 3 + [409] * 5
        assert len(stored(media)) == 3


class TestReading:
    def test_the_list_is_paged_newest_first(self, client: APIClient) -> None:
        ids = [upload(client, f"{n}.txt").json()["id"] for n in range(3)]
        first = client.get(FILES, {"limit": 2}).json()
        assert [one["id"] for one in first["results"]] == [ids[2], ids[1]]
        assert [one["id"] for one in client.get(first["next"]).json()["results"]] == [ids[0]]
        assert client.get(FILES, {"limit": 0}).json()["code"] == "invalid_pagination"

    def test_files_of_others_do_not_exist(self, client: APIClient) -> None:
        pk = upload(client).json()["id"]
        mallory = factories.api_client(factories.create_user("mallory"))
        for method, path in (("get", ""), ("delete", ""), ("get", "content/")):
            response = getattr(mallory, method)(f"{FILES}{pk}/{path}")
            assert (response.status_code, response.json()["code"]) == (404, "file_not_found")
        assert mallory.get(FILES).json()["results"] == []

    def download(self, client: APIClient, pk: str, **headers: str) -> tuple[Any, bytes]:
        response: Any = client.get(f"{FILES}{pk}/content/", headers=headers)
        return response, b"".join(response.streaming_content)

    def test_the_content_is_an_attachment_that_runs_nothing(self, client: APIClient) -> None:
        pk = upload(client, "größe.html", b"<html><script>alert(1)</script>").json()["id"]
        response, content = self.download(client, pk)
        assert content == b"<html><script>alert(1)</script>"
        assert response["Content-Disposition"] == "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.html"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert (response["Content-Length"], response["Accept-Ranges"]) == ("31", "bytes")

    @pytest.mark.parametrize(
        ("asked", "status", "part", "content_range"),
        [
            ("bytes=0-2", 206, b"Two", "bytes 0-2/16"),
            ("bytes=4-", 206, b"tides a day.", "bytes 4-15/16"),
            ("bytes=-4", 206, b"day.", "bytes 12-15/16"),
            ("bytes=4-999", 206, b"tides a day.", "bytes 4-15/16"),
            ("bytes=-999", 206, TIDES, "bytes 0-15/16"),
            ("bytes=15-15", 206, b".", "bytes 15-15/16"),
            ("bytes=0-1,4-5", 200, TIDES, None),
            ("bytes=5-2", 200, TIDES, None),
            ("lines=1-2", 200, TIDES, None),
            ("bytes=-", 200, TIDES, None),
        ],
    )
    def test_ranges(
        self, client: APIClient, asked: str, status: int, part: bytes, content_range: str | None
    ) -> None:
        response, content = self.download(client, upload(client).json()["id"], Range=asked)
        assert (response.status_code, content, response.get("Content-Range")) == (status, part, content_range)
        assert response["Content-Length"] == str(len(part))

    @pytest.mark.parametrize("asked", ["bytes=16-", "bytes=99-100", "bytes=-0"])
    def test_ranges_behind_the_end(self, client: APIClient, asked: str) -> None:
        pk = upload(client).json()["id"]
        response: Any = client.get(f"{FILES}{pk}/content/", headers={"Range": asked})
        assert (response.status_code, response.json()["code"]) == (416, "invalid_range")
        assert response["Content-Range"] == "bytes */16"

    def test_a_content_that_is_gone_is_not_found(self, client: APIClient, media: Any) -> None:
        pk = upload(client).json()["id"]
        (media / "files" / pk).unlink()
        assert client.get(f"{FILES}{pk}/content/").json()["code"] == "file_not_found"


class TestThumbnail:
    """Of a picture as a worker stores it; tests/ingest and tests/faults have real ones."""

    WEBP = b"RIFF-WEBP"

    @pytest.fixture
    def pk(self, client: APIClient) -> str:
        pk = str(upload(client, "moon.png", b"\x89PNG\r\n\x1a\n").json()["id"])
        assert client.get(f"{FILES}{pk}/").json()["has_thumbnail"] is False
        end_picture(pk)
        return pk

    def read(self, client: APIClient, pk: str, **headers: str) -> Any:
        return client.get(f"{FILES}{pk}/thumbnail/", headers=headers)

    def test_it_is_shown_by_the_browser_and_runs_nothing(self, client: APIClient, pk: str) -> None:
        assert client.get(f"{FILES}{pk}/").json()["has_thumbnail"] is True
        response = self.read(client, pk)
        assert (response.status_code, response.content) == (200, self.WEBP)
        assert {name: response[name] for name in ("Content-Type", "Content-Disposition")} == {
            "Content-Type": "image/webp",
            "Content-Disposition": "inline",
        }
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"

    def test_only_the_browser_of_its_owner_keeps_it(self, client: APIClient, pk: str) -> None:
        first = self.read(client, pk)
        assert first["Cache-Control"] == "private, max-age=86400, immutable"
        assert {"Cookie", "Authorization"} <= set(first["Vary"].split(", "))
        again = self.read(client, pk, **{"If-None-Match": first["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
        assert again["Cache-Control"] == first["Cache-Control"]
        mallory = factories.api_client(factories.create_user("mallory"))
        refused = self.read(mallory, pk, **{"If-None-Match": first["ETag"]})
        assert (refused.status_code, refused.json()["code"]) == (404, "file_not_found")
        assert refused["Cache-Control"] == "no-store"

    def test_what_is_no_picture_has_none(self, client: APIClient) -> None:
        pk = upload(client).json()["id"]
        assert "has_thumbnail" not in client.get(f"{FILES}{pk}/").json()
        assert self.read(client, pk).json()["code"] == "file_not_found"

    def test_one_that_is_gone_is_not_found(self, client: APIClient, pk: str, media: Any) -> None:
        (media / "files" / f"{pk}-1-thumbnail").unlink()
        assert self.read(client, pk).json()["code"] == "file_not_found"

    def test_messages_say_so_too(self, client: APIClient, session: str, pk: str) -> None:
        ModelConfig.objects.update(supports_vision=True)
        factories.complete_turn(client, session, files=[pk])
        question = client.get(f"/api/sessions/{session}/messages/").json()[0]
        assert question["files"][0]["has_thumbnail"] is True


@pytest.mark.django_db(transaction=True)
class TestDeletion:
    @pytest.fixture
    def owner(self) -> Any:
        factories.create_model("quick", is_default=True)
        return factories.create_user("alice")

    def test_a_deleted_file_leaves_no_blob(self, owner: Any, media: Any) -> None:
        client = factories.api_client(owner)
        pk = upload(client).json()["id"]
        assert client.delete(f"{FILES}{pk}/").status_code == 204
        assert client.get(f"{FILES}{pk}/").status_code == 404
        assert stored(media) == []

    def test_a_deleted_picture_leaves_no_thumbnail(self, owner: Any, media: Any) -> None:
        client = factories.api_client(owner)
        pk = upload(client, "moon.png", b"\x89PNG\r\n\x1a\n").json()["id"]
        end_picture(pk)
        blobs.purge_deleted()
        assert stored(media) == [f"files/{pk}-1", f"files/{pk}-1-thumbnail"]
        assert client.delete(f"{FILES}{pk}/").status_code == 204
        assert stored(media) == []

    def test_a_deleted_user_leaves_no_blob(self, owner: Any, media: Any) -> None:
        upload(factories.api_client(owner))
        owner.delete()
        assert blobs.purge_deleted() == 1
        assert stored(media) == []

    def test_a_session_takes_the_files_with_it_that_nothing_else_uses(self, owner: Any, media: Any) -> None:
        client = factories.api_client(owner)
        ids = [upload(client, f"{n}.txt").json()["id"] for n in range(4)]
        for pk in ids:
            end(pk, text="Tides", token_count=2)
        File.objects.filter(pk=ids[2]).update(project=Project.objects.create(owner=owner, name="Tides"))
        session, other = (client.post("/api/sessions/", {}, format="json").json()["id"] for _ in range(2))
        factories.complete_turn(client, session, files=ids[:3])
        factories.complete_turn(client, session, files=ids[:1])
        factories.complete_turn(client, other, files=ids[1:2])
        assert client.delete(f"/api/sessions/{session}/?permanent=1").status_code == 204
        assert set(File.objects.values_list("pk", flat=True)) == {*map(_uuid, ids[1:])}
        assert stored(media) == sorted(f"files/{pk}" for pk in ids[1:])
        client.delete(f"/api/sessions/{other}/?permanent=1")
        assert stored(media) == sorted(f"files/{pk}" for pk in ids[2:])
        assert not MessageFile.objects.exists()

    def test_the_blob_stays_while_the_deletion_is_not_committed(self, owner: Any, media: Any) -> None:
        from django.db import transaction

        pk = upload(factories.api_client(owner)).json()["id"]
        with transaction.atomic():
            File.objects.get(pk=pk).delete()
            transaction.set_rollback(True)
        assert blobs.purge_deleted() == 0
        assert default_storage.exists(f"files/{pk}")


def _uuid(pk: str) -> Any:
    from uuid import UUID

    return UUID(pk)


class TestSending:
    def send(self, client: APIClient, session: str, pk: str, **body: Any) -> Any:
        return factories.send_turn(client, session, files=[pk], **body)

    def test_a_file_that_is_longer_than_a_model_reads_is_refused(
        self, client: APIClient, session: str, alice: Any
    ) -> None:
        ModelConfig.objects.filter(name="deep").update(context_window=1000, max_output_tokens=200)
        pk = upload(client, "long.txt").json()["id"]
        end(pk, text="long", token_count=751)
        response = self.send(client, session, pk, models=["quick", "deep"])
        assert response.status_code == 413
        body = response.json()
        assert {name: body[name] for name in ("code", "field", "model", "file", "token_count", "limit")} == {
            "code": "attachments_too_large", "field": "files", "model": "deep", "file": pk, "token_count": 751,
            "limit": 750,
        }  # fmt: skip
        assert "long.txt" in body["message"]
        assert client.get(f"/api/sessions/{session}/messages/").json() == []
        assert self.send(client, session, pk, models=["quick"]).status_code == 202

    def test_files_alone_are_a_message(self, client: APIClient, session: str) -> None:
        pk = upload(client).json()["id"]
        end(pk, text="Two tides", token_count=2)
        assert self.send(client, session, pk, text="").status_code == 202
        [question, _] = client.get(f"/api/sessions/{session}/messages/").json()
        assert (question["text"], [file["id"] for file in question["files"]]) == ("", [pk])
        sent = self.send(client, session, pk, text=" \u200b").json()
        assert ChatMessage.objects.get(pk=sent["user_message"]).text == ""
        refused = factories.send_turn(client, session, "", files=[])
        assert (refused.status_code, refused.json()["code"]) == (400, "message_empty")

    def test_a_file_in_progress_is_not_sent(self, client: APIClient, session: str) -> None:
        response = self.send(client, session, upload(client).json()["id"])
        assert (response.status_code, response.json()["code"]) == (409, "file_processing")

    @pytest.mark.django_db(transaction=True)
    def test_waiting_files_of_a_user_are_capped(self, client: APIClient, settings: Any, media: Any) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 2
        first, _second = (upload(client).json()["id"] for _ in range(2))
        response = upload(client)
        assert (response.status_code, response.json()["code"], response.json()["max"]) == (
            429,
            "too_many_waiting_files",
            2,
        )
        assert int(response["Retry-After"]) > 0
        assert len(stored(media)) == 2
        uses = {row["code"]: (row["used"], row["max"]) for row in client.get("/api/usage/limits/").json()}
        assert uses["waiting_files"] == (2, 2)
        # Each user has an own number, and what has been read does not count.
        assert upload(factories.api_client(factories.create_user("bob"))).status_code == 201
        held = File.objects.claim(first)
        assert held
        assert upload(client).status_code == 429
        held.end_failed("document_corrupt")
        assert upload(client).status_code == 201

    @pytest.mark.django_db(transaction=True)
    def test_uploads_side_by_side_do_not_pass_the_cap_of_waiting_files(self, settings: Any) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 3
        alice = factories.create_user("alice")
        statuses = run_concurrently(*[lambda: upload(factories.api_client(alice)).status_code] * 8)
        assert sorted(statuses) == [201] * 3 + [429] * 5

    def test_no_cap_of_waiting_files(self, client: APIClient, settings: Any) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 0
        assert [upload(client).status_code for _ in range(3)] == [201] * 3


@pytest.mark.parametrize(
    ("error", "stays"), [(OperationalError, True), (InterfaceError, True), (ValueError, False)]
)
def test_a_content_stays_if_its_row_may_be_committed(
    client: APIClient, monkeypatch: pytest.MonkeyPatch, error: type[Exception], stays: bool
) -> None:
    store_row = new_files.store_row

    def lose_the_reply(*arguments: Any) -> None:
        store_row(*arguments)
        raise error

    monkeypatch.setattr(new_files, "store_row", lose_the_reply)
    client.raise_request_exception = False
    upload(client)
    content = str(File.objects.get().content.name)
    assert default_storage.exists(content) is stays
