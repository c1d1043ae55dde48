"""A file from upload to deletion in a bucket of a real S3-compatible server, and what happens when that is away."""

import logging
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from rest_framework.test import APIClient

from chat.sweeper.files import BlobKeeper
from config.file_storage import storage_of
from ingest import extraction
from knowledge.files import blobs
from knowledge.models import DeletedBlob, File
from tests import factories
from tests.features.files.test_uploads import FILES, upload
from tests.ingest import documents
from tests.instance import free_port
from tests.next_file import read_file
from tests.object_store import ObjectStore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


class Switch:
    """Puts a reachable or an unreachable server behind the storage."""

    def __init__(self, store: ObjectStore, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self._settings, self._monkeypatch = store, settings, monkeypatch
        self.prefix = str(uuid4())
        self.away = f"http://127.0.0.1:{free_port()}"
        self.turn_on()

    def turn_on(self) -> None:
        self._use(self.store.url(self.prefix))

    def turn_off(self) -> None:
        self._use(self.store.url(self.prefix, endpoint=self.away))

    def keys(self) -> list[str]:
        return self.store.keys(self.prefix)

    def _use(self, url: str) -> None:
        self._monkeypatch.setenv("STORAGE_URL", url)
        self._settings.STORAGES = {**self._settings.STORAGES, "default": storage_of("STORAGE_URL")}


@pytest.fixture
def storage(object_store: ObjectStore, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Switch:
    return Switch(object_store, settings, monkeypatch)


@pytest.fixture
def client() -> APIClient:
    factories.create_model("quick", is_default=True)
    return factories.api_client(factories.create_user("alice"))


def upload_picture(client: APIClient) -> str:
    response = upload(client, "moon.jpg", documents.picture_of_a_camera(size=(600, 400)))
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def status_of(client: APIClient, pk: str) -> str:
    return str(client.get(f"{FILES}{pk}/").json()["status"])


def test_a_picture_from_upload_to_deletion(client: APIClient, storage: Switch) -> None:
    pk = upload_picture(client)
    assert storage.keys() == [f"files/{pk}"]
    read_file(pk)
    assert client.get(f"{FILES}{pk}/").json()["has_thumbnail"] is True
    # The upload, which has the place where it was taken, is gone.
    assert storage.keys() == [f"files/{pk}-1", f"files/{pk}-1-thumbnail"]
    whole: Any = client.get(f"{FILES}{pk}/content/")
    content = b"".join(whole.streaming_content)
    assert len(content) == int(whole["Content-Length"])
    assert b"SECRET" not in content
    part: Any = client.get(f"{FILES}{pk}/content/", headers={"Range": "bytes=5-9"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, content[5:10])
    assert client.get(f"{FILES}{pk}/thumbnail/").content[:4] == b"RIFF"
    assert client.delete(f"{FILES}{pk}/").status_code == 204
    assert storage.keys() == []


def test_the_text_of_a_document(client: APIClient, storage: Switch) -> None:
    pk = upload(client).json()["id"]
    read_file(pk)
    assert File.objects.get(pk=pk).text == "Two tides a day."


def test_an_upload_while_the_server_is_away_can_be_repeated(client: APIClient, storage: Switch) -> None:
    storage.turn_off()
    response = upload(client)
    assert (response.status_code, response.json()["code"]) == (503, "file_storage_unavailable")
    assert not File.objects.exists()
    storage.turn_on()
    assert storage.keys() == []
    assert upload(client).status_code == 201


@pytest.mark.parametrize("path", ["content/", "thumbnail/"])
def test_a_download_while_the_server_is_away_is_refused_before_its_first_byte(
    client: APIClient, storage: Switch, path: str
) -> None:
    pk = upload_picture(client)
    read_file(pk)
    storage.turn_off()
    response = client.get(f"{FILES}{pk}/{path}")
    assert (response.status_code, response.json()["code"]) == (503, "file_storage_unavailable")
    assert "Content-Disposition" not in response
    storage.turn_on()
    assert client.get(f"{FILES}{pk}/{path}").status_code == 200


def test_a_content_that_is_gone_is_not_found(client: APIClient, storage: Switch) -> None:
    pk = upload(client).json()["id"]
    blobs.discard(f"files/{pk}")
    assert client.get(f"{FILES}{pk}/content/").json()["code"] == "file_not_found"
    read_file(pk)
    assert client.get(f"{FILES}{pk}/").json()["error"]["code"] == "file_missing"


def test_extraction_waits_for_the_server(client: APIClient, storage: Switch) -> None:
    pk = upload_picture(client)
    storage.turn_off()
    read_file(pk)
    waiting = File.objects.get(pk=pk)
    assert (waiting.status, waiting.attempt, waiting.failures, waiting.lease_until) == (
        "processing",
        1,
        0,
        None,
    )
    assert waiting.queued_at > timezone.now()
    storage.turn_on()
    read_file(pk)
    assert status_of(client, pk) == "ready"
    assert storage.keys() == [f"files/{pk}-2", f"files/{pk}-2-thumbnail"]


@pytest.mark.parametrize("stored", [0, 1])
def test_a_server_that_goes_away_before_the_picture_is_stored_leaves_nothing(
    client: APIClient, storage: Switch, monkeypatch: pytest.MonkeyPatch, stored: int
) -> None:
    pk = upload_picture(client)
    store, calls = blobs.store, iter(range(9))

    def fail_later(*args: Any) -> str:
        if next(calls) < stored:
            return store(*args)
        raise OSError("away")

    with monkeypatch.context() as failing:
        failing.setattr(blobs, "store", fail_later)
        read_file(pk)
    assert status_of(client, pk) == "processing"
    assert storage.keys() == [f"files/{pk}"]
    read_file(pk)
    assert status_of(client, pk) == "ready"


def test_a_server_that_stays_away_fails_the_file_in_the_end(client: APIClient, storage: Switch) -> None:
    pk = upload(client).json()["id"]
    File.objects.update(attempt=extraction.MAX_ATTEMPTS - 1)
    storage.turn_off()
    read_file(pk)
    assert client.get(f"{FILES}{pk}/").json()["error"]["code"] == "file_unreadable"


def test_a_deletion_while_the_server_is_away_is_completed_by_the_sweeper(
    client: APIClient, storage: Switch, caplog: pytest.LogCaptureFixture
) -> None:
    ids = [upload(client).json()["id"] for _ in range(3)]
    storage.turn_off()
    for pk in ids:
        assert client.delete(f"{FILES}{pk}/").status_code == 204
    with caplog.at_level(logging.WARNING):
        assert BlobKeeper().purge(time.monotonic()) == 0
    assert "the storage cannot be compared with the table" in caplog.text
    assert DeletedBlob.objects.count() == 3
    storage.turn_on()
    assert sum(blobs.purge_deleted() for _ in ids) == 3
    assert (storage.keys(), DeletedBlob.objects.count()) == ([], 0)


def test_the_sweeper_compares_bucket_and_table(
    client: APIClient, storage: Switch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from chat.sweeper import files as swept_files

    kept, lost = (upload(client).json()["id"] for _ in range(2))
    blobs.store(ContentFile(b"x"), "files/broken-off")
    blobs.discard(f"files/{lost}")
    assert swept_files.compare_storage() == 0  # it may be an upload that has no row yet
    monkeypatch.setattr(swept_files, "UNREFERENCED_FOR", timedelta(seconds=-60))
    assert swept_files.compare_storage() == 1
    assert storage.keys() == [f"files/{kept}"]
    assert f"1 files have lost their content, among them ['files/{lost}']" in caplog.text
