"""A new version of a document, whatever is killed while it is read: searches find one version as a whole at any time, and in the end
each chunk of the new one once."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psutil
import pytest

from chat.infrastructure.fault_points import Point
from knowledge.texts.chunking import split_chunks
from tests.faults.chunk_counts import count_chunks
from tests.faults.cluster import Cluster, until
from tests.faults.uploader import Uploader

pytestmark = [pytest.mark.fault, pytest.mark.timeout(900)]

POINTS: tuple[Point, ...] = (
    "after_file_claim",
    "before_file_end",
    "after_picture_stored",  # of files without a picture too
    "after_chunk_batch",
    "after_chunks_stored",
    "after_file_end",
)
VECTOR_POINTS: tuple[Point, ...] = ("after_vectors_claim", "before_vectors_stored", "after_vectors_stored")


def text_of(version: str) -> str:
    """Chunks of more than one transaction, all different."""
    return "\n\n".join(
        f"## {version} {number}\n\n" + f"The {version} tide {number} comes twice. " * 45
        for number in range(230)
    )


CHUNKS = "SELECT version, position, text FROM knowledge_chunk WHERE file_id = %s ORDER BY position"
STALE = "SELECT 1 FROM knowledge_file WHERE id = %s AND has_stale_chunks"


class Page(BaseHTTPRequestHandler):
    """The text that the test has set last."""

    text = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(type(self).text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def no_workers(without_workers: None) -> None:
    pass


@pytest.fixture
def page() -> Iterator[str]:
    """The host and port of a server that serves Page.text."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class Base:
    """A knowledge base with one document."""

    def __init__(self, uploader: Uploader, pk: str) -> None:
        self.uploader, self.path = uploader, f"knowledge-bases/{pk}/"
        self.document = ""

    async def add(self, body: dict[str, str]) -> None:
        answer = await self.uploader.ask("POST", f"{self.path}documents/", json=body)
        assert answer.status_code == 201, answer.text
        self.document = answer.json()["id"]

    async def replace(self, body: dict[str, str]) -> None:
        answer = await self.uploader.ask("PUT", f"{self.path}documents/{self.document}/", json=body)
        assert answer.status_code == 200, answer.text

    async def status(self) -> str:
        path = f"{self.path}documents/{self.document}/"
        return str((await self.uploader.ask("GET", path)).json()["status"])

    async def found(self) -> set[str]:
        """The versions among what a search finds."""
        hits = (await self.uploader.ask("GET", f"{self.path}search/?q=tide+twice&limit=20")).json()
        return {version for version in ("old", "new") for hit in hits if f"The {version} tide" in hit["text"]}


@pytest.fixture
async def base(cluster: Cluster) -> AsyncIterator[Base]:
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        made = (await uploader.ask("POST", "knowledge-bases/", json={"name": "Tides"})).json()["id"]
        yield Base(uploader, made)
        await uploader.ask("DELETE", f"knowledge-bases/{made}/")
        await until(lambda: not cluster.rows("SELECT 1 FROM knowledge_knowledgebase WHERE id = %s", made))
    print(cluster.logs())


@pytest.mark.parametrize("point", POINTS)
async def test_a_process_killed_at_any_point_leaves_one_version_found_at_any_time(
    cluster: Cluster, base: Base, point: Point
) -> None:
    start(cluster, "ingest.first")
    await base.add({"title": "Tides", "text": text_of("old")})
    await watch(base, {"old"}, may_be_empty=True)
    cluster.kill("ingest.first")
    await replace_and_kill(cluster, base, point, {"title": "Tides", "text": text_of("new")}, {})
    await watch(base, {"new"})
    await until(lambda: not cluster.rows(STALE, base.document))
    assert_whole(cluster, base.document, text_of("new"))


async def test_a_page_that_was_fetched_by_a_killed_process_is_fetched_again(
    cluster: Cluster, base: Base, page: str
) -> None:
    allowed = {"URL_ALLOWED_HOSTS": page}
    start(cluster, "ingest.first", allowed)
    Page.text = text_of("old")
    await base.add({"url": f"http://{page}/"})
    await watch(base, {"old"}, may_be_empty=True)
    cluster.kill("ingest.first")
    Page.text = text_of("new")
    await replace_and_kill(cluster, base, "after_document_fetched", {"url": f"http://{page}/"}, allowed)
    await watch(base, {"new"})
    await until(lambda: not cluster.rows(STALE, base.document))
    assert_whole(cluster, base.document, text_of("new"))


@pytest.mark.parametrize("point", VECTOR_POINTS)
async def test_a_process_killed_while_vectors_are_computed_leaves_the_new_version_found_and_each_chunk_with_one(
    cluster: Cluster, base: Base, point: Point
) -> None:
    embedding = {"EMBEDDINGS_BASE_URL": cluster.upstream.base_url, "EMBEDDINGS_MODEL": "sea"}
    cluster.kill("sweeper")
    cluster.stack.start("sweeper", "sweeper", embedding)
    start(cluster, "ingest.first", embedding)
    await base.add({"title": "Tides", "text": text_of("old")})
    await watch(base, {"old"}, may_be_empty=True)
    await until(lambda: count_chunks(cluster, base.document).are_complete)
    cluster.kill("ingest.first")
    await replace_and_kill(cluster, base, point, {"title": "Tides", "text": text_of("new")}, embedding)
    assert await base.found() == {"new"}
    await until(lambda: count_chunks(cluster, base.document).are_complete)
    assert await base.found() == {"new"}
    assert_whole(cluster, base.document, text_of("new"))


async def replace_and_kill(
    cluster: Cluster, base: Base, point: Point, body: dict[str, str], environment: dict[str, str]
) -> None:
    """Give the new version to a process that dies at `point`, and then start another one."""
    broken = {"FAULT_POINTS": f"{point}=kill", "INGEST_CONCURRENCY": "1"}
    start(cluster, "ingest.broken", environment | broken)
    [worker] = await until(lambda: psutil.Process(cluster.stack.processes["ingest.broken"].pid).children())
    await base.replace(body)
    while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:
        assert len(await base.found()) == 1
    cluster.kill_for_good("ingest.broken")
    start(cluster, "ingest", environment)


def start(cluster: Cluster, name: str, environment: dict[str, str] | None = None) -> None:
    cluster.stack.start("ingest", name, {"EMBEDDINGS_MODEL": "none"} | (environment or {}))


async def watch(base: Base, awaited: set[str], *, may_be_empty: bool = False) -> None:
    """Until the version is found; one version is, at every moment before that."""
    async with asyncio.timeout(200):
        while (found := await base.found()) != awaited:
            assert len(found) == 1 or (may_be_empty and not found)


def assert_whole(cluster: Cluster, document: str, text: str) -> None:
    rows = cluster.rows(CHUNKS, document)
    assert [position for _, position, _ in rows] == list(range(len(rows)))
    assert [chunk for _, _, chunk in rows] == [chunk for _, chunk in split_chunks(text)]
