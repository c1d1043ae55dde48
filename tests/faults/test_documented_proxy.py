"""What the product takes and sends passes nginx as documented, over TLS, with bodies as large as web's limits."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect

from tests.e2e.client import Client
from tests.faults.cluster import Cluster
from tests.faults.nginx import Front, documented_proxy
from web.rest.uploads import FORM_BYTES

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

MEBIBYTE = 1024 * 1024
MAX_FILE_BYTES = 25 * MEBIBYTE


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with Cluster.running(TRUSTED_PROXIES="127.0.0.1") as cluster:
        yield cluster


@pytest.fixture
def proxy(cluster: Cluster, tmp_path: Path) -> Iterator[Front]:
    with documented_proxy(tmp_path, cluster.stack.port) as front:
        yield front


@pytest.fixture
async def alice(proxy: Front) -> AsyncIterator[Client]:
    async with Client.login(proxy.url, "alice", "alice", proxy.tls) as client:
        yield client


def form(size: int, name: str = "tides.txt") -> dict[str, Any]:
    return {"files": {"file": (name, b"Low water. ".ljust(size, b"x"), "text/plain")}}


async def test_files_and_documents_as_large_as_web_takes_them_pass(alice: Client) -> None:
    """Also the next version of a document."""
    await alice.call("POST", "files/", status=201, **form(MAX_FILE_BYTES))
    base = await alice.call("POST", "knowledge-bases/", status=201, json={"name": "Tides"})
    documents = f"knowledge-bases/{base['id']}/documents/"
    document = await alice.call("POST", documents, status=201, **form(MAX_FILE_BYTES))
    replaced = await alice.call("PUT", f"{documents}{document['id']}/", **form(MAX_FILE_BYTES - 1))
    assert replaced["id"] == document["id"]


async def test_web_and_not_the_proxy_says_that_a_file_is_a_little_too_large(alice: Client) -> None:
    """The rest of its form has room, too."""
    base = await alice.call("POST", "knowledge-bases/", status=201, json={"name": "Rivers"})
    for path in ("files/", f"knowledge-bases/{base['id']}/documents/"):
        answer = await alice.http.post(f"/api/{path}", **form(MAX_FILE_BYTES + FORM_BYTES // 2))
        assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")


async def test_imports_larger_than_files_pass(alice: Client) -> None:
    """One of another product, and an archive, which web refuses for what it holds."""
    conversation = {"id": "c1", "title": "Long", "mapping": {}, "note": "x" * 60 * MEBIBYTE}
    binary = {"Content-Type": "application/octet-stream"}
    body = json.dumps([conversation]).encode()
    foreign = await alice.http.post("/api/sessions/import/foreign/", content=body, headers=binary)
    assert foreign.status_code == 200
    assert [one["message"] for one in foreign.json()["refused"]] == ["The conversation is too large."]
    archive = {"Content-Type": "application/zip"}
    broken = await alice.http.post("/api/sessions/import/", content=b"PK" + body, headers=archive)
    assert (broken.status_code, "code" in broken.json()) == (400, True)


async def test_an_answer_arrives_while_it_is_written(cluster: Cluster, alice: Client) -> None:
    cluster.upstream.reply({"text": "The water"}, {"wait": "later"}, {"text": " rises."})
    session = await alice.new_session()
    async with alice.socket() as socket:
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Does it rise?")
        (run,) = (one["id"] for one in turn["runs"])
        await socket.showing(run, "The water")
        assert not socket.runs[run].stop_reason
        cluster.upstream.release("later")
        assert (await socket.ended(run)).text == "The water rises."


async def test_the_page_connects_although_the_port_is_not_the_usual_one(proxy: Front) -> None:
    """Its cookie is only sent with TLS, and a socket's Origin must match Host."""
    async with httpx2.AsyncClient(base_url=proxy.url, verify=proxy.tls, trust_env=False) as browser:
        await browser.get("/login/")
        token = browser.cookies["csrftoken"]
        login = {"username": "alice", "password": "alice", "csrfmiddlewaretoken": token}
        answer = await browser.post("/login/", data=login, headers={"Referer": f"{proxy.url}/login/"})
        assert answer.status_code == 302
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    address = f"{proxy.url.replace('https', 'wss')}/ws/"
    async with connect(
        address, additional_headers={"Cookie": cookies}, origin=proxy.url, ssl=proxy.tls, proxy=None
    ) as socket:
        await socket.send('{"type": "ping"}')
        assert json.loads(await socket.recv()) == {"type": "pong"}


async def test_addresses_of_pages_have_the_scheme_of_the_proxy(alice: Client) -> None:
    for _ in range(2):
        await alice.new_session()
    page = await alice.call("GET", "sessions/?page_size=1")
    assert page["next"].startswith(alice.base_url)


def test_without_tls_a_browser_is_redirected_and_metrics_are_not_public(proxy: Front) -> None:
    answer = httpx2.get(f"{proxy.redirecting_url}/login/?next=/", trust_env=False)
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://127.0.0.1/login/?next=/")
    assert httpx2.get(f"{proxy.url}/metrics", verify=proxy.tls, trust_env=False).status_code == 403


async def test_what_the_proxy_refuses_is_html(alice: Client) -> None:
    """The page has words of its own for that (tests/features/files/files.test.mjs)."""
    answer = await alice.http.post("/api/agents/", content=b" " * 9 * MEBIBYTE)
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "text/html"
