"""The zip that ChatGPT sends is imported as it is; a hostile one is refused, and no name in it is used as a path."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import MessageFile, Session
from chat.protocol.errors import ApiError
from features.transfer.foreign_exports import export_zip, foreign_importer
from knowledge.models import File
from tests.features.transfer.foreign_exports.examples import chatgpt
from tests.features.transfer.foreign_exports.test_import import bring_in

pytestmark = pytest.mark.django_db

DIRECTORY, LOCAL = b"PK\x01\x02", b"PK\x03\x04"


def written(*conversations: dict[str, Any]) -> bytes:
    return json.dumps(conversations, indent=1).encode()


def chats(*ids: str) -> bytes:
    return written(*(chatgpt(conversation_id=one, title=one) for one in ids))


def zipped(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method) as file:
        for name, content in entries:
            file.writestr(name, content)
    return output.getvalue()


def patched(file: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """With bytes replaced in the last record that begins with the signature."""
    at = file.rfind(signature) + offset
    return file[:at] + value + file[at + len(value) :]


def titles(answer: Any) -> list[str]:
    assert (answer.status_code, answer.json()["refused"]) == (200, []), answer.content
    return [one["title"] for one in answer.json()["imported"]]


@pytest.mark.parametrize("folder", ["", "export/", "a/b/c/", "../", "/etc/"])
def test_the_conversations_are_found_at_any_depth(client: APIClient, folder: str) -> None:
    file = zipped(
        (f"{folder}chat.html", b"<html>"),
        (f"{folder}conversations.json", chats("a", "b")),
        ("user.json", b"{}"),
    )
    assert titles(bring_in(client, file)) == ["a", "b"]


def test_numbered_files_are_read_in_the_order_of_their_numbers(client: APIClient) -> None:
    file = zipped(
        *((f"x/conversations-{number}.json", chats(f"c-{number}")) for number in ("010", "002", "000")),
        ("x/conversations.json", chats("first")),
        ("x/shared_conversations.json", b"[]"),
        ("x/conversations-1.json.bak", b""),
        ("__MACOSX/x/._conversations.json", b"\0"),
    )
    assert titles(bring_in(client, file)) == ["first", "c-000", "c-002", "c-010"]


def test_stored_entries_are_read_as_well(client: APIClient) -> None:
    file = zipped(("conversations.json", chats("a")), method=zipfile.ZIP_STORED)
    assert titles(bring_in(client, file)) == ["a"]


def test_a_zip_that_is_sent_again_or_unpacked_adds_nothing(client: APIClient, alice: User) -> None:
    file = zipped(("conversations-000.json", chats("a")), ("conversations-001.json", chats("b")))
    assert [one["is_new"] for one in bring_in(client, file).json()["imported"]] == [True, True]
    assert [one["is_new"] for one in bring_in(client, file).json()["imported"]] == [False, False]
    assert [one["is_new"] for one in bring_in(client, chats("a")).json()["imported"]] == [False]
    assert Session.objects.filter(owner=alice).count() == 2


def test_a_request_without_time_left_is_continued_by_the_next(
    client: APIClient, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_importer.import_conversations, "__defaults__", (1e-9,))
    monkeypatch.setattr(foreign_importer, "_FAILED_IMPORT_FACTOR", 1e15)
    file = zipped(*((f"conversations-00{number}.json", chats(f"c-{number}")) for number in range(3)))
    answers = [bring_in(client, file).json() for _ in range(4)]
    assert [one["is_complete"] for one in answers] == [False, False, False, True]
    assert Session.objects.filter(owner=alice).count() == 3


def test_errors_name_the_file_its_line_and_the_field(client: APIClient) -> None:
    broken = chatgpt(conversation_id="broken", title="Broken")
    broken["mapping"]["ask"]["message"]["content"]["parts"] = "How low?"
    second = written(chatgpt(conversation_id="b"), broken)
    file = zipped(("x/conversations-000.json", chats("a")), ("x/conversations-001.json", second))
    answer = bring_in(client, file).json()
    assert len(answer["imported"]) == 2
    (refused,) = answer["refused"]
    assert (refused["file"], refused["title"], refused["field"], refused["code"]) == (
        "x/conversations-001.json", "Broken", "1.mapping.ask.message.content.parts", "invalid_type",
    )  # fmt: skip
    assert b"How low?" in second.splitlines()[refused["line"] - 1]


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"nothing", 1), (b"\n\n7", 3), (chats("b")[:-9], None), (chats("b") + b"\n]", None)],
)
@pytest.mark.parametrize("number", ["000", "001", "002"])
def test_a_file_of_no_json_is_named_and_the_others_are_imported(
    client: APIClient, number: str, content: bytes, line: int | None
) -> None:
    contents = {"000": chats("x"), "001": chats("y"), "002": chats("z"), number: content}
    answer = bring_in(
        client, zipped(*((f"conversations-{one}.json", text) for one, text in contents.items()))
    ).json()
    assert {"x", "y", "z"} - {one["title"] for one in answer["imported"]} == {
        {"000": "x", "001": "y", "002": "z"}[number]
    }
    refused = answer["refused"][-1]
    assert (refused["file"], refused["code"]) == (f"conversations-{number}.json", "invalid_json")
    assert line in (None, refused["line"])
    assert answer["is_complete"] is True


def many_entries() -> bytes:
    """In a directory of nearly five million bytes."""
    return zipped(*((f"{number:x}", b"") for number in range(100_000)), ("conversations.json", chats("a")))


def entries_without_names() -> bytes:
    """So many as a directory of the allowed length may have."""
    entry = DIRECTORY + b"\0" * 42
    directory = entry * 22_000
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 22_000, 22_000, len(directory), 0, 0)
    # Zip programs begin with an entry; this one begins with the directory, and says so.
    head = zipped(("conversations.json", b"[]"))[:49]
    return head + directory + patched(end, b"PK\x05\x06", 16, struct.pack("<I", len(head)))


def cut() -> bytes:
    return zipped(("conversations.json", chats("a")))[:-30]


def encrypted() -> bytes:
    return patched(zipped(("conversations.json", chats("a"))), DIRECTORY, 8, b"\x01\x00")


def twice() -> bytes:
    file = zipped(("conversations.json", chats("a")), ("conversations.jsoN", chats("b")))
    return file.replace(b"conversations.jsoN", b"conversations.json")


def linked() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        file.writestr(link, b"/etc/passwd")
    return output.getvalue()


def one(content: bytes, **options: Any) -> bytes:
    return zipped(("conversations.json", content), **options)


HOSTILE: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "a bomb": (lambda: one(b" " * 2_000_000), 413, "body_too_large"),
    "a bomb in parts": (
        lambda: zipped(*((f"conversations-{n:03}.json", b" " * 300_000) for n in range(4))), 413, "body_too_large",
    ),
    "a bomb that lies": (
        lambda: patched(one(b" " * 2_000_000), DIRECTORY, 24, struct.pack("<I", 3)), 400, "invalid_value",
    ),
    "100,000 entries": (many_entries, 400, "invalid_value"),
    "22,000 entries without names": (entries_without_names, 400, "invalid_value"),
    "encrypted": (encrypted, 400, "invalid_value"),
    "a zip in the zip": (lambda: zipped(("export.zip", one(chats("a")))), 400, "invalid_value"),
    "no conversations": (lambda: zipped(("chat.html", b"<html>"), ("user.json", b"{}")), 400, "invalid_value"),
    "empty": (zipped, 400, "invalid_value"),
    "one of our archives": (lambda: zipped(("manifest.json", b"{}")), 400, "invalid_value"),
    "two folders": (
        lambda: zipped(("a/conversations.json", chats("a")), ("b/conversations.json", chats("b"))), 400, "invalid_value",
    ),
    "the same name twice": (twice, 400, "invalid_value"),
    "a link": (linked, 400, "invalid_value"),
    "cut": (cut, 400, "invalid_value"),
    "only its first bytes": (lambda: LOCAL, 400, "invalid_value"),
    "wrong checksum": (lambda: patched(one(chats("a")), DIRECTORY, 16, b"\0\0\0\0"), 400, "invalid_value"),
    "other compression": (lambda: one(chats("a"), method=zipfile.ZIP_LZMA), 400, "invalid_value"),
    "a file without content": (lambda: one(b""), 400, "file_empty"),
    "a second file that is damaged": (
        lambda: patched(
            zipped(("conversations-0.json", chats("a")), ("conversations-1.json", chats("b"))), DIRECTORY, 16, b"\0\0\0\0"
        ), 400, "invalid_value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_zip_is_refused_and_leaves_nothing(
    client: APIClient, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    settings.MAX_IMPORT_BYTES = 1_000_000
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.chdir(tmp_path)
    file, status, code = HOSTILE[case]
    answer = bring_in(client, file())
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert (Session.objects.count(), list(tmp_path.iterdir())) == (0, [])


def test_the_entry_that_is_damaged_is_named(client: APIClient) -> None:
    answer = bring_in(client, HOSTILE["a second file that is damaged"][0]())
    assert answer.json()["field"] == "conversations-1.json"


def test_a_zip_as_a_file_with_conversations_is_no_json(client: APIClient) -> None:
    (refused,) = bring_in(client, one(one(chats("a")))).json()["refused"]
    assert (refused["file"], refused["code"]) == ("conversations.json", "invalid_json")


def test_entries_that_are_not_read_may_unpack_to_anything_and_are_written_nowhere(
    client: APIClient, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_IMPORT_BYTES = 100_000
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    file = zipped(
        ("../outside.txt", b"x"), ("bomb.png", b"\0" * 1_000_000), ("../conversations.json", chats("a"))
    )
    assert titles(bring_in(client, file)) == ["a"]
    assert [path.name for path in tmp_path.rglob("*")] == ["inside"]


def test_too_many_files_with_conversations_are_refused(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_zip, "MAX_PARTS", 2)
    answer = bring_in(client, zipped(*((f"conversations-{n}.json", chats(f"c-{n}")) for n in range(3))))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_value")


@pytest.mark.parametrize("seed", range(60))
def test_a_zip_with_any_byte_changed_is_imported_or_refused(client: APIClient, seed: int) -> None:
    file = bytearray(zipped(("x/conversations.json", written(chatgpt())), ("a.png", b"\0" * 10)))
    at = (seed * 7919) % len(file) if seed < 30 else len(file) - 1 - (seed - 30) * 6
    file[at] ^= 0xFF
    assert bring_in(client, bytes(file)).status_code in (200, 400, 413)


TIDES, PICTURE = b"Two tides a day.", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def contents_in(media: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in media.rglob("*") if path.is_file())


def with_files(*attachments: dict[str, Any], parts: tuple[Any, ...] = (), **members: Any) -> bytes:
    """A question with them, or with pictures as parts."""
    conversation = chatgpt(**members)
    message = conversation["mapping"]["ask"]["message"]
    message["metadata"] = {"attachments": list(attachments)}
    message["content"]["parts"] = ["How high?", *parts]
    return written(conversation)


def attached() -> list[tuple[str, str, int | None, str]]:
    rows = MessageFile.objects.order_by("position").select_related("file")
    return [(one.file.name, one.file.kind, one.file.size_bytes, one.file.error_code) for one in rows]


class TestFiles:
    def test_the_files_of_a_question_are_attached_with_their_contents(
        self, client: APIClient, alice: User, media: Path
    ) -> None:
        conversations = with_files(
            {"id": "file-Ab1", "name": "tides.txt", "mime_type": "text/plain"},
            {"id": "file_00cd", "name": "sea.png", "mime_type": "image/png"},
            {"id": "file-Gone", "name": "gone.txt"},
            {"name": "without id.txt"},
        )
        file = zipped(
            ("x/file-Ab1-tides.txt", TIDES),
            ("x/user/file_00cd-sanitized.png", PICTURE),
            ("x/conversations.json", conversations),
        )
        answer = bring_in(client, file)
        assert titles(answer) == ["Tides"]
        assert attached() == [
            ("tides.txt", "text", len(TIDES), ""),
            ("sea.png", "image", len(PICTURE), ""),
            ("gone.txt", "text", 0, "content_missing"),
            ("without id.txt", "text", 0, "content_missing"),
        ]
        assert contents_in(media) == sorted([TIDES, PICTURE])
        bring_in(client, file)
        assert (File.objects.filter(owner=alice).count(), len(contents_in(media))) == (4, 2)

    @pytest.mark.parametrize(
        "pointer", ["file-service://file-Ab1", "sediment://file-Ab1", "sediment://12#file-Ab1#p_0.png"]
    )
    def test_pictures_that_are_parts_are_attached(self, client: APIClient, media: Path, pointer: str) -> None:
        conversations = with_files(parts=({"asset_pointer": pointer},))
        bring_in(client, zipped(("file-Ab1.png", PICTURE), ("conversations.json", conversations)))
        assert [one[1:] for one in attached()] == [("image", len(PICTURE), "")]

    def test_a_file_of_several_questions_is_stored_once_in_a_chat(
        self, client: APIClient, media: Path
    ) -> None:
        conversation = json.loads(
            with_files({"id": "file-a", "name": "a.txt"}, {"id": "file-a", "name": "b.txt"})
        )[0]
        conversation["mapping"]["more"]["message"]["metadata"] = {
            "attachments": [{"id": "file-a", "name": "c.txt"}]
        }
        bring_in(client, zipped(("file-a.txt", TIDES), ("conversations.json", written(conversation))))
        assert contents_in(media) == [TIDES]
        assert sorted(one[0] for one in attached()) == ["a.txt", "a.txt", "b.txt"]

    @pytest.mark.parametrize(
        "content",
        [b"", b"x" * 5_000, b"MZ\x90\x00\x03" + b"\x00" * 64],
        ids=["empty", "too large", "a program"],
    )
    def test_a_content_that_no_upload_may_have_leaves_its_name(
        self, client: APIClient, media: Path, settings: Any, content: bytes
    ) -> None:
        settings.MAX_FILE_BYTES = 3_000
        conversations = with_files({"id": "file-a", "name": "a.txt"})
        answer = bring_in(client, zipped(("file-a.txt", content), ("conversations.json", conversations)))
        assert titles(answer) == ["Tides"]
        assert attached() == [("a.txt", "text", 0, "content_missing")]
        assert contents_in(media) == []

    def test_a_damaged_content_leaves_its_name(self, client: APIClient, media: Path) -> None:
        conversations = with_files({"id": "file-a", "name": "a.txt"})
        file = zipped(("conversations.json", conversations), ("file-a.txt", TIDES))
        assert titles(bring_in(client, patched(file, DIRECTORY, 16, b"\0\0\0\0"))) == ["Tides"]
        assert attached() == [("a.txt", "text", 0, "content_missing")]
        assert contents_in(media) == []

    def test_files_for_which_there_is_no_room_end_the_import(
        self, client: APIClient, media: Path, settings: Any
    ) -> None:
        settings.MAX_STORED_BYTES_PER_USER = 100_000
        conversations = written(
            chatgpt(),
            *json.loads(with_files({"id": "file-a", "name": "a.txt"}, conversation_id="b")),
            chatgpt(conversation_id="c"),
        )
        file = zipped(("conversations.json", conversations), ("file-a.txt", b"x" * 100_000))
        answer = bring_in(client, file).json()
        assert [one["code"] for one in answer["refused"]] == ["storage_full"]
        assert (len(answer["imported"]), answer["is_complete"]) == (1, False)
        assert contents_in(media) == []

    def test_an_import_ends_while_too_many_files_wait_and_goes_on_later(
        self, client: APIClient, settings: Any
    ) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 1
        conversations = written(
            *json.loads(with_files({"id": "file-a", "name": "a.txt"}, conversation_id="a")),
            *json.loads(with_files({"id": "file-b", "name": "b.txt"}, conversation_id="b")),
        )
        file = zipped(("conversations.json", conversations), ("file-a.txt", TIDES), ("file-b.txt", TIDES))
        first = bring_in(client, file).json()
        assert [one["code"] for one in first["refused"]] == ["too_many_waiting_files"]
        assert (len(first["imported"]), first["is_complete"]) == (1, False)
        File.objects.update(status="failed", error_code="document_corrupt")
        second = bring_in(client, file).json()
        assert (second["refused"], second["is_complete"]) == ([], True)
        assert Session.objects.count() == 2

    def test_a_chat_that_is_not_stored_leaves_no_contents(
        self, client: APIClient, media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_given: Any) -> None:
            assert contents_in(media) == [TIDES]
            raise ApiError("too_many_files")

        monkeypatch.setattr(foreign_importer, "store_session", refuse)
        conversations = with_files({"id": "file-a", "name": "a.txt"})
        answer = bring_in(client, zipped(("conversations.json", conversations), ("file-a.txt", TIDES))).json()
        assert [one["code"] for one in answer["refused"]] == ["too_many_files"]
        assert contents_in(media) == []

    def test_a_bomb_of_files_is_refused(self, client: APIClient, media: Path, settings: Any) -> None:
        settings.MAX_IMPORT_BYTES = 100_000
        answer = bring_in(client, zipped(("conversations.json", chats("a")), ("file-a.png", b"\0" * 100_001)))
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
