"""A response that a client reads slowly, or that ends in any way, keeps no database connection, and users have few at a time."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from knox.models import AuthToken

from chat.models import Session
from knowledge.files import blobs
from knowledge.models import File, KnowledgeBase
from tests import factories
from tests.asgi_requests import AsgiRequest, stalled
from web.rest import request_slots

pytestmark = pytest.mark.django_db(transaction=True)

# More than one block of a stream, and than a server buffers.
CONTENT = b"tidemark " * 100_000
STREAMS = ["content", "document", "thumbnail", "text", "json", "zip", "markdown", "account"]
MANY = 24
InUse = Callable[[], Awaitable[int]]


class Alice:
    def __init__(self) -> None:
        factories.create_model("model", is_default=True)
        self.user = factories.create_user("alice")
        self.token = AuthToken.objects.create(self.user)[1]
        browser = Client()
        browser.force_login(self.user)
        self.cookie = browser.cookies["sessionid"].value
        base = KnowledgeBase.objects.start(self.user, name="Tides")
        file, document, picture = self._file(), self._file(knowledge_base=base), self._picture()
        session = Session.objects.start(self.user)
        self.file = str(file.pk)
        self.paths = {
            "content": f"/api/files/{file.pk}/content/",
            "document": f"/api/knowledge-bases/{document.knowledge_base_id}/documents/{document.pk}/content/",
            "thumbnail": f"/api/files/{picture.pk}/thumbnail/",
            "text": f"/api/files/{file.pk}/text/",
            **{kind: f"/api/sessions/{session.pk}/export/?as={kind}" for kind in ("json", "zip", "markdown")},
            "account": "/profile/export/",
        }  # fmt: skip

    def _file(self, **place: Any) -> File:
        return File.objects.create(
            owner=self.user, name="tides.txt", status="ready", text=CONTENT.decode(), size_bytes=len(CONTENT),
            content=ContentFile(CONTENT, name="any"), content_type="text/plain", **place,
        )  # fmt: skip

    def _picture(self) -> File:
        return File.objects.create(
            owner=self.user, name="moon.png", status="ready", kind="image", size_bytes=8, width_px=8, height_px=8,
            content=ContentFile(CONTENT, name="any"), content_type="image/png",
            thumbnail=blobs.store(io.BytesIO(CONTENT), blobs.upload_path(uuid4())),
        )  # fmt: skip

    def request(self, stream: str, takes: int | None = None) -> AsgiRequest:
        known = {"Authorization": f"Token {self.token}"}
        if stream == "account":
            known = {"Cookie": f"sessionid={self.cookie}"}
        return AsgiRequest(self.paths[stream], known, takes)


@pytest.fixture
def alice(db: None) -> Alice:
    known = Alice()
    connection.close()
    return known


@pytest.fixture
def in_use(alice: Alice) -> InUse:
    """How many more connections are in use than before the test: threads of earlier tests may have one."""
    before = connections_in_use()

    async def more() -> int:
        return max(0, await sync_to_async(connections_in_use)() - before)

    return more


def connections_in_use() -> int:
    connection.close()
    pool: Any = connection.pool
    stats = pool.get_stats()
    return int(stats["pool_size"] - stats["pool_available"])


def no_slots_taken(alice: Alice) -> bool:
    """Those of other tests, whose clients did not read to the end, are given back when they are forgotten."""
    slots = (request_slots.DOWNLOADS, request_slots.EXPORTS)
    return not any(alice.user.pk in some._taken for some in slots)


@pytest.mark.parametrize("stream", STREAMS)
async def test_one_that_is_not_read_keeps_no_connection(alice: Alice, in_use: InUse, stream: str) -> None:
    for takes in (0, 1):
        async with stalled(alice.request(stream, takes)):
            assert await in_use() == 0
    assert await in_use() == 0
    assert no_slots_taken(alice)


@pytest.mark.parametrize("stream", STREAMS)
async def test_one_that_is_read_to_its_end_keeps_nothing(alice: Alice, in_use: InUse, stream: str) -> None:
    request = alice.request(stream)
    await request.run()
    assert request.status == 200
    assert await in_use() == 0
    assert no_slots_taken(alice)


@pytest.mark.parametrize("stream", ["content", "document"])
async def test_a_storage_that_fails_in_the_middle_keeps_nothing(
    alice: Alice, in_use: InUse, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_later(*_: object) -> Iterator[bytes]:
        yield b"tidemark"
        raise OSError("the bucket is gone")

    monkeypatch.setattr(blobs, "read", fail_later)
    for _ in range(MANY):
        with pytest.raises(OSError, match="the bucket is gone"):
            await alice.request(stream).run()
    assert await in_use() == 0
    assert no_slots_taken(alice)


async def test_a_header_that_cannot_be_sent_keeps_nothing(
    alice: Alice, in_use: InUse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.rest.file_responses._SAFE_HEADERS", {"X-Content-Type-Options": "nosniff"})
    await File.objects.filter(pk=alice.file).aupdate(content_type="text/plain; name=\u20ac")
    for _ in range(MANY):
        with suppress(UnicodeError):
            await alice.request("content").run()
    assert await in_use() == 0
    assert no_slots_taken(alice)


@pytest.mark.parametrize(
    ("stream", "most"), [("content", request_slots.DOWNLOADS.most), ("zip", request_slots.EXPORTS.most)]
)
async def test_a_user_has_few_at_a_time(alice: Alice, stream: str, most: int) -> None:
    async with AsyncExitStack() as held:
        for _ in range(most):
            await held.enter_async_context(stalled(alice.request(stream, 1)))
        refused = alice.request(stream)
        await refused.run()
        assert refused.status == 429
        assert b"Retry-After" in dict(refused.messages[0]["headers"])
    again = alice.request(stream)
    await again.run()
    assert again.status == 200


async def test_an_account_has_few_exports_at_a_time(alice: Alice) -> None:
    async with AsyncExitStack() as held:
        for _ in range(request_slots.EXPORTS.most):
            await held.enter_async_context(stalled(alice.request("account", 1)))
        refused = alice.request("account")
        await refused.run()
        assert refused.status == 429


async def test_clients_that_leave_while_the_response_is_made_keep_nothing(
    alice: Alice, in_use: InUse
) -> None:
    requests = [alice.request("zip") for _ in range(MANY)]
    running = [asyncio.create_task(request.run()) for request in requests]
    await asyncio.sleep(0)
    for request in requests:
        request.leave()
    await asyncio.gather(*running)
    assert await in_use() == 0
    assert no_slots_taken(alice)
