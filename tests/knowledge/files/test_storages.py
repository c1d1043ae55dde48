"""Folder and bucket do the same, and fail the same way. The bucket is one of a real S3-compatible server."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.utils import timezone

from config import environment
from config.file_storage import storage_of
from tests.instance import ROOT, free_port
from tests.object_store import BUCKET, ObjectStore

TIDES = b"Two tides a day."


def storage_at(url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("STORAGE_URL", url)
    return storages.create_storage(storage_of("STORAGE_URL"))


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.full)])
def storage(request: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.MEDIA_ROOT = tmp_path
    url = "" if request.param == "folder" else request.getfixturevalue("object_store").url(str(uuid4()))
    return storage_at(url, monkeypatch)


class TestBoth:
    def test_what_is_stored_is_read_whole_and_in_parts(self, storage: Any) -> None:
        path = storage.save("files/a", ContentFile(TIDES))
        assert (path, storage.size(path), storage.exists(path)) == ("files/a", len(TIDES), True)
        assert b"".join(storage.chunks(path)) == TIDES
        with storage.open(path) as content:
            assert content.read() == TIDES
        assert b"".join(storage.chunks(path, 4, 9)) == b"tides"
        assert b"".join(storage.chunks(path, 12)) == b"day."
        assert b"".join(storage.chunks(path, 12, 999)) == b"day."

    def test_what_is_stored_is_listed_with_its_time_and_deleted(self, storage: Any) -> None:
        for name in ("a", "b"):
            storage.save(f"files/{name}", ContentFile(TIDES))
        assert sorted(storage.listdir("files")[1]) == ["a", "b"]
        assert abs(storage.get_modified_time("files/a") - timezone.now()) < timedelta(hours=1)
        storage.delete("files/a")
        storage.delete("files/a")
        assert storage.listdir("files")[1] == ["b"]

    def test_what_is_not_there_is_a_file_that_is_not_found(self, storage: Any) -> None:
        assert not storage.exists("files/none")
        for read in (storage.size, storage.get_modified_time, lambda path: list(storage.chunks(path))):
            with pytest.raises(FileNotFoundError):
                read("files/none")

    def test_a_large_content_is_the_same_afterwards(self, storage: Any) -> None:
        large = bytes(range(256)) * 4 * 1024 * 20  # 20 MB
        path = storage.save("files/large", ContentFile(large))
        assert b"".join(storage.chunks(path)) == large
        assert b"".join(storage.chunks(path, 10_000_000, 10_000_300)) == large[10_000_000:10_000_300]


@pytest.mark.full
class TestBucket:
    @pytest.fixture
    def bucket(self, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Any:
        return storage_at(object_store.url(str(uuid4())), monkeypatch)

    def test_a_part_is_transferred_alone(self, bucket: Any) -> None:
        transferred: list[int] = []
        events = bucket.connection.meta.client.meta.events
        events.register(
            "after-call.s3.GetObject", lambda parsed, **_: transferred.append(parsed["ContentLength"])
        )
        bucket.save("files/a", ContentFile(b"x" * 5_000_000))
        assert len(b"".join(bucket.chunks("files/a", 1_000_000, 1_000_100))) == 100
        assert transferred == [100]

    def test_a_large_content_is_stored_by_one_request_or_not_at_all(self, bucket: Any) -> None:
        asked: list[str] = []
        events = bucket.connection.meta.client.meta.events
        events.register("before-call.s3", lambda model, **_: asked.append(model.name))
        bucket.save("files/a", ContentFile(b"x" * 30_000_000))
        assert asked == ["PutObject"]

    def test_all_threads_use_one_client(self, bucket: Any) -> None:
        assert bucket.connection is bucket.connection

    def test_it_works(self, bucket: Any, object_store: ObjectStore) -> None:
        assert bucket.find_problem() == ""
        assert object_store.keys(bucket.location) == []

    @pytest.mark.parametrize(
        ("differs", "words"),
        [
            (
                {"secret": "wrong-secret"},
                "cannot store a content: the secret key is wrong (SignatureDoesNotMatch)",
            ),
            ({"key": "nobody"}, "cannot store a content: the access key is unknown (InvalidAccessKeyId)"),
            ({"key": "reader"}, "cannot store a content: the credentials do not allow it (AccessDenied)"),
            ({"bucket": "no-such-bucket"}, "cannot store a content: there is no such bucket (NoSuchBucket)"),
        ],
    )
    def test_a_deployment_check_says_what_is_wrong(
        self,
        object_store: ObjectStore,
        settings: Any,
        monkeypatch: pytest.MonkeyPatch,
        differs: Any,
        words: str,
    ) -> None:
        monkeypatch.setenv("STORAGE_URL", object_store.url("checked", **differs))
        settings.STORAGES = {**settings.STORAGES, "default": storage_of("STORAGE_URL")}
        with pytest.raises(SystemCheckError) as caught:
            call_command("check", deploy=True, tags=["storage"])
        assert f"STORAGE_URL: {words}." in str(caught.value)
        assert "wrong-secret" not in str(caught.value)

    def test_a_server_that_does_not_answer_is_an_error_and_no_missing_file(
        self, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        away = storage_at(object_store.url(endpoint=f"http://127.0.0.1:{free_port()}"), monkeypatch)
        steps = (
            lambda: away.save("files/a", ContentFile(TIDES)), lambda: list(away.chunks("files/a")),
            lambda: away.size("files/a"), lambda: away.exists("files/a"), lambda: away.delete("files/a"),
            lambda: away.listdir("files"), lambda: away.get_modified_time("files/a"),
        )  # fmt: skip
        for step in steps:
            with pytest.raises(OSError) as caught:
                step()
            assert not isinstance(caught.value, FileNotFoundError)
        assert "Could not connect" in away.find_problem()


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("https://bucket", "is not an address such as s3://"),
            ("s3:///prefix", "is not an address such as s3://"),
            ("s3://b", "is not an address such as s3://"),
            ("s3://bucket?colour=blue", "unknown option 'colour'"),
            ("s3://bucket?region", "is not an address such as s3://"),
            ("s3://bucket?endpoint_url=example.org", "does not start with http:// or https://"),
            ("s3://bucket?addressing_style=both", "is not one of path, virtual, auto"),
            ("s3://KEY@bucket", "only one of key and secret"),
        ],
    )
    def test_a_wrong_one_is_one_line_without_its_secret(
        self, monkeypatch: pytest.MonkeyPatch, capsys: Any, url: str, problem: str
    ) -> None:
        monkeypatch.setenv("STORAGE_URL", url)
        with pytest.raises(SystemExit) as caught:
            storage_of("STORAGE_URL")
        said = capsys.readouterr().err
        assert caught.value.code == environment.EX_CONFIG
        assert said.startswith("STORAGE_URL: ")
        assert problem in said
        assert said.count("\n") == 1

    def test_it_names_bucket_folder_server_and_credentials(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(
            "STORAGE_URL",
            f"s3://KEY:a%2Fb@{BUCKET}/some/where/?endpoint_url=https://s3.example.org&region=eu",
        )
        assert storage_of("STORAGE_URL")["OPTIONS"] == {
            "bucket_name": BUCKET, "location": "some/where", "endpoint_url": "https://s3.example.org",
            "region_name": "eu", "addressing_style": "path", "access_key": "KEY", "secret_key": "a/b",
            "security_token": None,
        }  # fmt: skip

    def test_without_one_it_is_a_folder_that_others_do_not_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("STORAGE_URL", raising=False)
        assert storage_of("STORAGE_URL")["OPTIONS"]["file_permissions_mode"] == 0o600


@pytest.mark.full
def test_no_process_imports_what_only_a_bucket_needs() -> None:
    program = """
import sys, django
django.setup()
import config.asgi, config.urls, ingest.tasks, llm_worker.tasks, compression.tasks, chat.sweeper.process
print([name for name in ("boto3", "botocore", "s3transfer", "storages") if name in sys.modules])
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "STORAGE_URL": "", "DEBUG": "1"}
    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"
