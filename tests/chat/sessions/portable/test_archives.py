"""A session with its files, exported as zip and imported: the same tree, the same contents, or nothing at all."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from chat.models import MessageFile, Session
from chat.sessions.portable import archive_reader, importer
from chat.sessions.portable import format as f
from features.transfer import api, session_archives
from knowledge.models import File, Project
from tests import factories
from tests.chat.sessions.portable.archives import (
    TIDES,
    archive_of_one,
    bring_in,
    described,
    manifest,
    manifest_of,
    packed,
    take_out,
    unpacked,
)
from tests.chat.sessions.portable.trees import sessions

PICTURE = b"\x89PNG\r\n\x1a\n" + b"\x00" * 50


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> Any:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def stored(media: Any) -> set[str]:
    return {str(path.relative_to(media)) for path in media.rglob("*") if path.is_file()}


def store(owner: User, name: str, content: bytes, **fields: Any) -> File:
    file = File(owner=owner, name=name, size_bytes=len(content), status="ready", **fields)
    file.content.save("", ContentFile(content), save=False)
    file.save()
    return file


def ask_with(client: APIClient, session: Any, text: str, *files: File) -> None:
    factories.complete_turn(client, session, text, files=[str(file.pk) for file in files])


class TestExport:
    def test_a_file_of_several_messages_is_one_entry(
        self, client: APIClient, session: str, alice: User
    ) -> None:
        tides, moon = (
            store(alice, "tides.txt", TIDES, token_count=5),
            store(alice, "moon.png", PICTURE, kind="image", width_px=1, height_px=1),
        )
        ask_with(client, session, "First", tides)
        ask_with(client, session, "Second", moon, tides)
        archive = take_out(client, session)
        entries = unpacked(archive)
        assert list(entries) == ["files/1", "files/2", "manifest.json"]
        assert (entries["files/1"], entries["files/2"]) == (TIDES, PICTURE)
        found = manifest_of(archive)
        assert found["version"] == f.ARCHIVE_VERSION
        first = {
            "name": "tides.txt", "kind": "text", "number": 1, "content_type": "text/plain", "token_count": 5, "entry": "files/1",
            "size": len(TIDES), "sha256": sha256(TIDES).hexdigest(),
        }  # fmt: skip
        asked = [one["files"] for one in found["messages"] if one["role"] == "user"]
        assert asked[0] == [first]
        assert asked[1][1] == first | {"number": 2}
        assert (asked[1][0]["kind"], asked[1][0]["entry"]) == ("image", "files/2")

    def test_json_stays_as_it_was(self, client: APIClient, session: str, alice: User) -> None:
        ask_with(client, session, "First", store(alice, "tides.txt", TIDES))
        response = client.get(f"/api/sessions/{session}/export/")
        found = json.loads(b"".join(response.streaming_content))
        assert (found["version"], found["messages"][1]["files"]) == (
            2,
            [{"name": "tides.txt", "kind": "text", "number": 1}],
        )

    @pytest.mark.parametrize("lost", ["deleted", "gone", "without content"])
    def test_a_file_that_is_not_there_is_listed_as_missing(
        self, client: APIClient, session: str, alice: User, lost: str
    ) -> None:
        tides, other = store(alice, "tides.txt", TIDES), store(alice, "other.txt", b"Other")
        ask_with(client, session, "First", tides, other)
        response = client.get(f"/api/sessions/{session}/export/", {"as": "zip"})
        if lost == "without content":
            File.objects.filter(pk=tides.pk).update(content="")
        pieces = iter(response.streaming_content)
        if lost == "gone":
            default_storage.delete(str(tides.content.name))
        if lost == "deleted":
            # After the archive has begun.
            with mock.patch("knowledge.files.blobs.read", side_effect=deleting(tides)):
                archive = b"".join(pieces)
        else:
            archive = b"".join(pieces)
        found = manifest_of(archive)["messages"][1]["files"]
        assert [(one["name"], one.get("is_missing", False)) for one in found] == [
            ("tides.txt", True),
            ("other.txt", False),
        ]
        assert set(unpacked(archive)) == {"files/2", "manifest.json"}
        copy = bring_in(client, archive)
        assert copy.status_code == 201
        rows = File.objects.filter(messages__message__session=copy.json()["id"]).order_by(
            "messages__position"
        )
        assert [row.error_code for row in rows] == [importer.CONTENT_MISSING, ""]

    def test_a_content_that_breaks_off_is_listed_as_missing(
        self, client: APIClient, session: str, alice: User
    ) -> None:
        ask_with(client, session, "First", store(alice, "tides.txt", TIDES))

        def broken(_path: str) -> Any:
            yield b"Two ti"
            raise OSError("the storage has gone")

        with mock.patch("knowledge.files.blobs.read", broken):
            archive = take_out(client, session)
        [found] = manifest_of(archive)["messages"][1]["files"]
        assert found["is_missing"]
        copy = bring_in(client, archive)
        assert copy.status_code == 201
        assert (
            File.objects.get(messages__message__session=copy.json()["id"]).error_code
            == importer.CONTENT_MISSING
        )


def deleting(file: File) -> Callable[[str], Any]:
    from knowledge.files import blobs

    read = blobs.read

    def read_after_the_deletion(path: str) -> Any:
        File.objects.filter(pk=file.pk).delete()
        default_storage.delete(f"files/{file.pk}")
        return read(path)

    return read_after_the_deletion


class TestImport:
    def test_files_are_new_files_of_the_importer_that_are_read_again(
        self, client: APIClient, session: str, alice: User, media: Any
    ) -> None:
        tides = store(alice, "tides.txt", TIDES, text="what others say it says", token_count=99)
        ask_with(client, session, "First", tides)
        ask_with(client, session, "Second", tides)
        bob = factories.create_user("bob")
        with mock.patch("chat.runs.new_files.extract_on_commit") as extraction:
            response = bring_in(factories.api_client(bob), take_out(client, session))
        assert response.status_code == 201
        new = File.objects.get(owner=bob)
        assert extraction.call_args_list == [mock.call(new)]
        assert (new.status, new.text, new.token_count, new.name) == ("processing", "", 0, "tides.txt")
        assert (new.size_bytes, new.content.name) == (len(TIDES), f"files/{new.pk}")
        assert stored(media) == {f"files/{tides.pk}", f"files/{new.pk}"}
        with new.content.open() as content:
            assert content.read() == TIDES
        attached = MessageFile.objects.filter(message__session=response.json()["id"])
        assert [(one.file_id, one.number) for one in attached.order_by("number")] == [
            (new.pk, 1),
            (new.pk, 2),
        ]

    def test_kind_and_type_are_those_of_the_content(self, client: APIClient) -> None:
        lies = {"name": "../../moon\u202e.png", "kind": "text", "content_type": "text/html", "token_count": 7}
        assert bring_in(client, archive_of_one(PICTURE, **lies)).status_code == 201
        file = File.objects.get()
        assert (file.name, file.kind, file.content_type, file.token_count) == (
            "moon.png",
            "image",
            "image/png",
            0,
        )

    def test_what_other_programs_write_is_accepted(self, client: APIClient) -> None:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            archive = packed({"files/": b"", "files/1": TIDES}, described("files/1"), method=method)
            assert bring_in(client, archive).status_code == 201

    def test_an_entry_with_fewer_bytes_than_the_directory_says_is_what_its_digest_says(
        self, client: APIClient
    ) -> None:
        archive = patched(archive_of_one(), DIRECTORY, 24, struct.pack("<I", 99))
        assert bring_in(client, archive).status_code == 201
        assert File.objects.get().size_bytes == len(TIDES)

    def test_an_archive_inside_is_a_file_like_others(self, client: APIClient) -> None:
        inside = archive_of_one()
        assert bring_in(client, archive_of_one(inside, name="a.zip")).status_code == 201
        assert File.objects.get().content_type == "application/zip"

    def test_the_manifest_alone_is_imported_without_contents(self, client: APIClient) -> None:
        response = client.post("/api/sessions/import/", manifest(described("files/1")), format="json")
        assert response.status_code == 201
        assert File.objects.get().error_code == importer.CONTENT_MISSING


@given(sessions(), st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=4), st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tree_with_files_survives_a_round_trip(
    db: None, tree: dict[str, Any], contents: list[bytes], data: st.DataObject
) -> None:
    owner = User.objects.get_or_create(username="alice")[0]
    client = factories.api_client(owner)
    entries: dict[str, bytes] = {}
    for message in tree["messages"]:
        for index, file in enumerate(list(message.get("files", []))):
            number = data.draw(st.integers(0, len(contents) - 1), label="content")
            name = f"files/{number + 1}"
            if index and message["files"][0].get("entry") == name:
                continue
            entries[name] = contents[number]
            # Without an ending, the content alone says what it is.
            message["files"][index] = file | described(
                name, contents[number], name=f"file {number}", kind="text"
            )
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(tree | {"version": 3}))
    response = bring_in(client, output.getvalue())
    assert response.status_code == 201, response.json()
    first = take_out(client, response.json()["id"])
    again = bring_in(client, first)
    second = take_out(client, again.json()["id"])
    assert second == first
    found = unpacked(first)
    hashes = {
        file["name"]: file["sha256"]
        for message in manifest_of(first)["messages"]
        for file in message.get("files", [])
        if "entry" in file
    }
    assert hashes == {
        file["name"]: file["sha256"]
        for message in tree["messages"]
        for file in message.get("files", [])
        if "entry" in file
    }
    assert {sha256(content).hexdigest() for name, content in found.items() if name != "manifest.json"} == set(
        hashes.values()
    )
    File.objects.all().delete()
    Session.objects.all().delete()


def renamed(archive: bytes, old: bytes, new: bytes) -> bytes:
    """With a name replaced by one of the same length, everywhere."""
    assert len(old) == len(new)
    return archive.replace(old, new)


def patched(archive: bytes, signature: bytes, offset: int, value: bytes, *, last: bool = True) -> bytes:
    """With bytes replaced in a record that begins with the signature."""
    at = (archive.rfind(signature) if last else archive.find(signature)) + offset
    return archive[:at] + value + archive[at + len(value) :]


DIRECTORY, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"


def repeated() -> bytes:
    archive = packed({"files/1": TIDES, "files/2": TIDES}, described("files/1"))
    return renamed(archive, b"files/2", b"files/1")


def linked() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest(described("files/1", b"/etc/passwd"))))
        link = zipfile.ZipInfo("files/1")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, b"/etc/passwd")
    return output.getvalue()


def zip64_lie() -> bytes:
    """The directory's entry says in its zip64 field that it unpacks to 2^60 bytes."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest(described("files/1"))))
        archive.writestr("files/1", TIDES)
        for one in archive.infolist():
            if one.filename == "files/1":
                one.file_size = 2**60
    return output.getvalue()


def without_json() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("manifest.json", b"{")
    return output.getvalue()


def many_entries() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for number in range(archive_reader.MAX_ENTRIES + 1):
            archive.writestr(f"files/{number}", b"")
    return output.getvalue()


def long_directory() -> bytes:
    """Its end says that the directory has as many bytes as the archive, which are many."""
    filler = b"\0" * (archive_reader.MAX_DIRECTORY_BYTES + 1)
    return filler + END + struct.pack("<HHHHIIH", 0, 0, 9, 9, len(filler), 0, 0)


LONG = b"x" * 3001
# archive, status, code
HOSTILE: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "empty": (lambda: b"", 400, "field_required"),
    "not an archive": (lambda: b"%PDF-1.7", 400, "invalid_value"),
    "cut": (lambda: archive_of_one()[:-30], 400, "invalid_value"),
    "too long": (lambda: archive_of_one() + b"\0" * 20_000, 413, "body_too_large"),
    "no manifest": (lambda: renamed(archive_of_one(), b"manifest.json", b"manifesto.txt"), 400, "invalid_value"),
    "manifest of no JSON": (without_json, 400, "invalid_json"),
    "manifest too large": (lambda: packed({}, title="x" * 6000, method=0), 413, "body_too_large"),
    "manifest of too many values": (lambda: packed({}, values=[0] * 300), 413, "body_too_large"),
    "manifest with an unknown member": (lambda: packed({}, colour="red"), 400, "unknown_field"),
    "manifest that breaks the rules": (lambda: packed({}, messages=[]), 400, "invalid_value"),
    "file without its entry": (lambda: packed({}, described("files/1")), 400, "invalid_value"),
    "entry without its file": (lambda: packed({"files/1": TIDES}), 400, "invalid_value"),
    "entry of another kind": (lambda: packed({"readme.txt": TIDES}), 400, "invalid_value"),
    "entry that leads outside": (lambda: packed({"../../x": TIDES}, described("../../x")), 400, "invalid_value"),
    "absolute entry": (lambda: packed({"/etc/x": TIDES}, described("/etc/x")), 400, "invalid_value"),
    "entry outside, not named": (lambda: packed({"../x": TIDES}), 400, "invalid_value"),
    "name with NUL": (lambda: renamed(archive_of_one(), b"files/1", b"files/\0"), 400, "invalid_value"),
    "name twice": (repeated, 400, "invalid_value"),
    "name that differs in the entry": (lambda: patched(archive_of_one(), LOCAL, 30, b"filed/1"), 400, "invalid_value"),
    "encrypted": (lambda: patched(archive_of_one(), DIRECTORY, 8, b"\x01\x00"), 400, "invalid_value"),
    "link": (linked, 400, "invalid_value"),
    "other compression": (lambda: packed({"files/1": TIDES}, described("files/1"), method=zipfile.ZIP_LZMA), 400, "invalid_value"),
    "unknown compression": (lambda: patched(archive_of_one(), DIRECTORY, 10, b"\x63\x00"), 400, "invalid_value"),
    "another digest": (lambda: packed({"files/1": TIDES}, described("files/1", b"other")), 400, "invalid_value"),
    "another size": (lambda: archive_of_one(size=3), 400, "invalid_value"),
    "without a digest": (lambda: packed({"files/1": TIDES}, {"name": "a", "entry": "files/1"}), 400, "invalid_value"),
    "one entry under two names": (lambda: packed({"files/1": TIDES}, described("files/1"), described("files/1", name="b")), 400, "invalid_value"),
    "one file twice in a message": (lambda: packed({"files/1": TIDES}, described("files/1"), described("files/1")), 400, "invalid_value"),
    "damaged content": (lambda: archive_of_one(TIDES * 9).replace(zlib.compress(TIDES * 9, 6, -15)[:4], b"\xff\xff\xff\xff"), 400, "invalid_value"),
    "wrong checksum": (lambda: patched(archive_of_one(), DIRECTORY, 16, b"\0\0\0\0"), 400, "invalid_value"),
    "more bytes than it says": (lambda: patched(archive_of_one(), DIRECTORY, 24, struct.pack("<I", 3)), 400, "invalid_value"),
    "zip64 that says 2^60 bytes": (zip64_lie, 413, "body_too_large"),
    "a bomb": (lambda: archive_of_one(b"\0" * 30_000), 413, "body_too_large"),
    "a bomb that lies": (lambda: patched(archive_of_one(b"\0" * 30_000), DIRECTORY, 24, struct.pack("<I", 3)), 400, "invalid_value"),
    "too many entries": (many_entries, 400, "invalid_value"),
    "directory too long": (long_directory, 400, "invalid_value"),
    "file too large": (lambda: archive_of_one(LONG), 413, "file_too_large"),
    "file empty": (lambda: archive_of_one(b""), 400, "file_empty"),
    "a program as text": (lambda: archive_of_one(b"MZ\x90\x00\x03" + b"\x00" * 64), 415, "file_type_mismatch"),
    "a good file, then a bad one": (lambda: packed({"files/1": TIDES, "files/2": b""}, described("files/1"), described("files/2", b"", name="b.txt")), 400, "file_empty"),
}  # fmt: skip


@pytest.fixture
def limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, so that the archives of the tests are small."""
    settings.MAX_FILE_BYTES = 3000
    settings.MAX_IMPORT_BYTES = 10_000
    monkeypatch.setattr(session_archives.SessionArchiveParser, "max_bytes", 10_000)
    # Its module, which may not have been imported yet, has the limit from `f`.
    monkeypatch.setattr(api.SessionFileParser, "max_bytes", 5000)
    monkeypatch.setattr(f, "MAX_BYTES", 5000)
    monkeypatch.setattr(f, "MAX_VALUES", 300)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    client: APIClient, media: Any, limits: None, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    archive, status, code = HOSTILE[case]
    content = archive()
    if case in ("too many entries", "directory too long"):
        monkeypatch.setattr(session_archives.SessionArchiveParser, "max_bytes", 2**24)
    response = bring_in(client, content)
    assert (response.status_code, response.json()["code"]) == (status, code), response.json()
    assert (Session.objects.count(), File.objects.count(), stored(media)) == (0, 0, set())


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_archive_with_any_bytes_changed_is_imported_or_refused(
    client: APIClient, media: Any, data: st.DataObject
) -> None:
    archive = bytearray(archive_of_one(TIDES * 3))
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    response = bring_in(client, bytes(archive))
    assert response.status_code == 201 or 400 <= response.status_code < 500, response.content
    assert len(stored(media)) == File.objects.exclude(content="").count()


class TestQuotas:
    @pytest.mark.parametrize(
        ("setting", "value", "code"),
        [
            ("MAX_FILES_PER_USER", 1, "too_many_files"),
            ("MAX_STORED_BYTES_PER_USER", 3000, "storage_full"),
            ("MAX_SESSIONS_PER_USER", 1, "too_many_sessions"),
        ],
    )
    def test_files_count_before_they_are_stored(
        self, client: APIClient, session: str, media: Any, settings: Any, setting: str, value: int, code: str
    ) -> None:
        entries = {"files/1": b"a" * 2000, "files/2": b"b" * 2000}
        files = [described(name, content, size=2000) for name, content in entries.items()]
        setattr(settings, setting, value)
        with mock.patch.object(session_archives.uploads, "store_content") as storing:
            response = bring_in(client, packed(entries, *files))
        assert (response.status_code, response.json()["code"]) == (409, code)
        assert not storing.called
        assert (File.objects.count(), Session.objects.count(), stored(media)) == (0, 1, set())

    def test_an_import_is_refused_while_too_many_files_wait_and_is_not_if_it_has_too_many(
        self, client: APIClient, settings: Any
    ) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 1
        entries = {"files/1": b"Low water.", "files/2": b"High water."}
        archive = packed(entries, *(described(*one) for one in entries.items()))
        assert bring_in(client, archive).status_code == 201
        assert File.objects.not_ended().count() == 2
        refused = bring_in(client, archive)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_waiting_files")
        assert Session.objects.count() == 1

    def test_sizes_that_the_manifest_conceals_count_in_the_end(
        self, client: APIClient, media: Any, settings: Any
    ) -> None:
        settings.MAX_STORED_BYTES_PER_USER = 3000
        entries = {"files/1": b"a" * 2000, "files/2": b"b" * 2000}
        response = bring_in(client, packed(entries, *(described(*one) for one in entries.items())))
        assert (response.status_code, response.json()["code"]) == (409, "storage_full")
        assert (File.objects.count(), Session.objects.count(), stored(media)) == (0, 0, set())

    def test_names_without_contents_count_as_well(self, client: APIClient, settings: Any) -> None:
        settings.MAX_FILES_PER_USER = 1
        response = client.post("/api/sessions/import/", manifest({"name": "a"}, {"name": "b"}), format="json")
        assert (response.status_code, response.json()["code"]) == (409, "too_many_files")
        assert (File.objects.count(), Session.objects.count()) == (0, 0)


def test_a_storage_that_fails_in_the_middle_leaves_nothing(client: APIClient, media: Any) -> None:
    entries = {"files/1": b"a", "files/2": b"b"}
    store = session_archives.uploads.blobs.store

    def store_one(content: Any, path: str) -> str:
        if stored(media):
            raise OSError("the storage is full")
        return store(content, path)

    with mock.patch("knowledge.files.blobs.store", store_one):
        response = bring_in(client, packed(entries, *(described(*one) for one in entries.items())))
    assert (response.status_code, response.json()["code"]) == (503, "file_storage_unavailable")
    assert (File.objects.count(), Session.objects.count(), stored(media)) == (0, 0, set())


def test_a_failed_end_of_the_transaction_leaves_nothing(client: APIClient, media: Any) -> None:
    with mock.patch.object(importer.StoredBytes.objects, "refresh", side_effect=RuntimeError):
        assert bring_in(client, archive_of_one()).status_code == 500
    assert (File.objects.count(), Session.objects.count(), stored(media)) == (0, 0, set())


def test_deleting_the_imported_session_deletes_its_files(
    client: APIClient, alice: User, media: Any, django_capture_on_commit_callbacks: Any
) -> None:
    project = Project.objects.create(owner=alice, name="Tides")
    pk = bring_in(client, archive_of_one()).json()["id"]
    kept = bring_in(client, archive_of_one()).json()["id"]
    File.objects.filter(messages__message__session=kept).update(project=project)
    with django_capture_on_commit_callbacks(execute=True):
        for one in (pk, kept):
            assert client.delete(f"/api/sessions/{one}/?permanent=1").status_code == 204
    [file] = File.objects.all()
    assert stored(media) == {f"files/{file.pk}"}
