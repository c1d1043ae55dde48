"""One user's slow documents keep another's small file waiting for the next slot at most (decision 0094)."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.faults.cluster import Cluster, until
from tests.faults.uploader import Uploader

pytestmark = [pytest.mark.fault, pytest.mark.core, pytest.mark.timeout(400)]

SLOTS = 2  # of the ingest process
SLOW = 12
SMALL = b"Two tides a day.\n"


class SlowPages:
    """A server each of whose responses waits until the test lets it go. asked: how many were asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self._may_end = threading.Semaphore(0)
        pages = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages.asked += 1
                pages._may_end.acquire(timeout=60)
                content = f"The tide of {self.path} is high.".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def let_go(self, count: int) -> None:
        self._may_end.release(count)


@pytest.fixture(autouse=True)
def no_workers(without_workers: None) -> None:
    pass


@pytest.fixture
def pages() -> Iterator[SlowPages]:
    pages = SlowPages()
    yield pages
    pages.let_go(100)
    pages.server.shutdown()
    pages.server.server_close()


async def test_a_small_file_is_read_when_the_next_of_twelve_slow_documents_ends(
    cluster: Cluster, pages: SlowPages
) -> None:
    async with Uploader.logged_in(cluster) as alice, Uploader.logged_in(cluster, "bob") as bob:
        base = (await alice.ask("POST", "knowledge-bases/", json={"name": "Tides"})).json()["id"]
        for number in range(SLOW):
            body = {"url": f"http://{pages.address}/{number}"}
            answer = await alice.ask("POST", f"knowledge-bases/{base}/documents/", json=body)
            assert answer.status_code == 201, answer.text
        environment = {"URL_ALLOWED_HOSTS": pages.address, "INGEST_CONCURRENCY": str(SLOTS)}
        cluster.stack.start("ingest", "ingest", environment)
        await until(lambda: pages.asked == SLOTS)
        small = await bob.upload("a.txt", SMALL)
        pages.let_go(1)
        assert (await bob.ended(small))["status"] == "ready"
        # The slot was given back, and perhaps taken again, since.
        assert pages.asked <= SLOTS + 1
        pages.let_go(SLOW)
        ended = "SELECT 1 FROM knowledge_file WHERE knowledge_base_id = %s AND status = 'ready'"
        await asyncio.to_thread(
            cluster.wait_until, lambda: len(cluster.rows(ended, base)) == SLOW, "all documents to be read"
        )
    print(cluster.logs())
