"""Passwords are guessed at a whole instance, with real password hashes, through nginx as documented and beside it."""

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.nginx import Front, documented_proxy

pytestmark = [
    pytest.mark.fault,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="clients at other loopback addresses need Linux"),
]

ATTACKER, OWNER = "127.0.0.66", "127.0.0.7"


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    """With the product's settings, and nginx at 127.0.0.1 as the only proxy."""
    with Cluster.running(DJANGO_SETTINGS_MODULE="config.settings", TRUSTED_PROXIES="127.0.0.1") as cluster:
        yield cluster


@pytest.fixture
def proxy(cluster: Cluster, tmp_path: Path) -> Iterator[Front]:
    forget_attempts(cluster)
    with documented_proxy(tmp_path, cluster.stack.port) as front:
        yield front


def forget_attempts(cluster: Cluster) -> None:
    for (table,) in cluster.rows(
        "SELECT tablename FROM pg_tables WHERE tablename IN ('chat_loginlimit', 'axes_accessattempt')"
    ):
        cluster.rows(f"WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone")


def client(server: str | Front, address: str) -> httpx2.Client:
    """A client of the base URL, or of the proxy, at one of the loopback addresses."""
    base_url, tls = (server.url, server.tls) if isinstance(server, Front) else (server, True)
    transport = httpx2.HTTPTransport(local_address=address, verify=tls)
    return httpx2.Client(base_url=base_url, transport=transport, timeout=120)


def guess(client: httpx2.Client, name: str, password: str, **headers: str) -> httpx2.Response:
    return client.post("/api/auth/token/", json={"username": name, "password": password}, headers=headers)


def test_invented_addresses_do_not_evade_the_limit_behind_the_documented_proxy(proxy: Front) -> None:
    with client(proxy, ATTACKER) as attacker:
        statuses = []
        for number in range(30):
            invented = f"203.0.113.{number}"
            headers = {
                "X-Forwarded-For": invented,
                "X-Real-IP": invented,
                "Forwarded": f"for={invented};proto=https",
                "True-Client-IP": invented,
            }
            statuses.append(guess(attacker, "alice", f"wrong {number}", **headers).status_code)
    assert statuses == [401] * 8 + [429] * 22


def test_the_owner_logs_in_at_another_address_while_someone_guesses(proxy: Front) -> None:
    with client(proxy, ATTACKER) as attacker, client(proxy, OWNER) as owner:
        for number in range(10):
            last = guess(attacker, "alice", f"wrong {number}", **{"X-Forwarded-For": OWNER})
        assert last.status_code == 429
        assert guess(owner, "alice", "alice").status_code == 200


def test_the_header_of_a_client_that_is_no_proxy_is_ignored(cluster: Cluster) -> None:
    forget_attempts(cluster)
    with client(cluster.stack.base_url, ATTACKER) as attacker:
        statuses = [
            guess(attacker, "alice", "wrong", **{"X-Forwarded-For": f"203.0.113.{number}"}).status_code
            for number in range(10)
        ]
    assert statuses == [401] * 8 + [429] * 2


@pytest.mark.parametrize("header", ["garbage", "' OR 1=1 --", "[::1", "203.0.113.1, x", "1.2.3.4.5", ","])
def test_a_header_that_is_no_address_is_no_error(cluster: Cluster, header: str) -> None:
    forget_attempts(cluster)
    with client(cluster.stack.base_url, "127.0.0.1") as trusted:
        assert guess(trusted, "nobody", "wrong", **{"X-Forwarded-For": header}).status_code == 401


async def test_a_flood_of_logins_does_not_starve_others(cluster: Cluster) -> None:
    """240 logins at once from sixty addresses: what exceeds the bound is refused, and requests go on."""
    forget_attempts(cluster)
    base_url = cluster.stack.base_url
    with client(base_url, OWNER) as owner:
        started = time.monotonic()
        token = guess(owner, "alice", "alice").json()["token"]
        one_login_s = time.monotonic() - started
    flood = asyncio.create_task(flooded(base_url))
    reads: list[tuple[int, float]] = []
    transport = httpx2.AsyncHTTPTransport(local_address=OWNER, verify=False)
    async with httpx2.AsyncClient(base_url=base_url, transport=transport, timeout=120) as reader:
        while not flood.done():
            asked_at = time.monotonic()
            answer = await reader.get("/api/sessions/", headers={"Authorization": f"Token {token}"})
            reads.append((answer.status_code, time.monotonic() - asked_at))
    answers = await flood
    slowest_s = max(took for _, took in reads)
    record("A1", "flood of 240 logins: slowest read beside it", slowest_s)
    record("A1", "one login alone", one_login_s)
    assert {status for status, _ in reads} == {200}
    assert {answer.status_code for answer in answers} <= {401, 429, 503}
    refused = [answer for answer in answers if answer.status_code != 401]
    assert refused
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    # Hashing all of them would take 240 logins' time. A ratio, since machines differ.
    assert slowest_s < 12 * one_login_s
    with client(base_url, OWNER) as owner:
        assert guess(owner, "alice", "alice").status_code == 200


async def flooded(base_url: str) -> list[Any]:
    async def one(address: str, name: str) -> Any:
        transport = httpx2.AsyncHTTPTransport(local_address=address, verify=False)
        async with httpx2.AsyncClient(base_url=base_url, transport=transport, timeout=120) as attacker:
            return await attacker.post("/api/auth/token/", json={"username": name, "password": "wrong"})

    return await asyncio.gather(*(one(f"127.0.1.{n % 60 + 1}", f"name{n}") for n in range(240)))
