"""A database of the version before 0.2, which the last release upgraded, starts without loss: tests/fixtures/README.md says how it was made.

What later versions add (tables, columns, Django's own rows, keys of JSON) is no loss; what is gone or has another
value is.
"""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from django.contrib import admin
from django.urls import reverse

from tests import last_release
from tests.e2e.client import Client, Frame, Socket
from tests.e2e.file_chat import SUMMARY
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.tool_fixtures import MOON, SEA
from tests.upstream import Received, Upstream

pytestmark = [pytest.mark.e2e, pytest.mark.full]

FIXTURES = Path(__file__).parent / "fixtures"
NAME = "database-before-0.2"
MIGRATE = """
from django.core.management import call_command
call_command("migrate", plan=True, no_color=True)
call_command("migrate", verbosity=0)
call_command("migrate", check_unapplied=True, verbosity=0)
"""
# How `migrate --plan` names what takes something away.
TAKES_AWAY = ("Remove field", "Delete model", "Rename ")
# Where `migrate` itself adds rows, for new migrations and models.
OF_MIGRATE = {"django_migrations", "django_content_type", "auth_permission"}
# What becomes of the work that the end of the old version's processes interrupted: session -> its answers.
LEFT_OVER = {
    "Unannounced": ["completed"],
    "Running": ["completed", "completed"],
    "Searching": ["completed"],
    "Stopping": ["stopped"],
    "Queued": ["completed", "completed"],
    "Overdue": ["failed"],
}
ANSWER = "All is well."
LIMIT_S = 60

Rows = dict[str, Any]  # table -> primary key -> column -> value


@dataclass
class Old:
    """The database in this version. recorded: of the version before; answers: of this one, to the same requests.

    before: as the version before left it; released: migrated by the last release; after: by this version.
    """

    stack: Stack
    recorded: dict[str, Any]
    plan: list[str]
    before: Rows
    released: Rows
    after: Rows
    answers: dict[str, Any]

    def browser(self, login: str = "") -> httpx2.Client:
        cookies = {"sessionid": self.recorded["logins"][login]} if login else {}
        return httpx2.Client(base_url=self.stack.base_url, cookies=cookies, timeout=60, trust_env=False)

    def session(self, title: str, owner: str = "alice") -> Frame:
        sessions = self.recorded["answers"][owner]["/api/sessions/?limit=200"]["results"]
        [found] = [one for one in sessions if one["title"] == title]
        return dict(found)

    @asynccontextmanager
    async def client(self, name: str = "alice") -> AsyncIterator[Client]:
        """With the token of the old version."""
        token = self.recorded["tokens"][name]
        headers = {"Authorization": f"Token {token}"}
        async with httpx2.AsyncClient(
            base_url=self.stack.base_url, headers=headers, timeout=60, trust_env=False
        ) as http:
            yield Client(self.stack.base_url, token, http)


@pytest.fixture(scope="module")
def old(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    """Loaded, migrated and read by a web process; nothing has worked on it yet."""
    recorded = json.loads(gzip.decompress((FIXTURES / f"{NAME}.json.gz").read_bytes()))
    with Upstream() as upstream, SearchServer() as searching:
        stack = Stack(services, upstream, searching)
        url = urlsplit(services.postgres.url)._replace(path=f"/{NAME}").geturl()
        stack.environment |= {
            "DATABASE_URL": url,
            "REDIS_URL": services.valkey.url.removesuffix("/0") + "/2",
            "SECRET_KEY": recorded["secret_key"],
        }
        load(services.postgres.url, url)
        before = rows(url)
        release = Stack(
            services, upstream, searching, code=last_release.unpack(tmp_path_factory.mktemp("release"))
        )
        release.environment["DATABASE_URL"] = url
        release.manage("migrate", "-v", "0")
        released = rows(url)
        plan = stack.manage("shell", "-v", "0", "-c", MIGRATE).splitlines()
        after = rows(url)
        try:
            stack.start("web")
            stack.wait_until_ready()
            yield Old(stack, recorded, plan, before, released, after, read(stack, recorded))
        finally:
            stack.stop()


def load(services_url: str, url: str) -> None:
    """Into a database of its own."""
    with psycopg.connect(services_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{NAME}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{NAME}"')
    with psycopg.connect(url) as connection:
        connection.execute(gzip.decompress((FIXTURES / f"{NAME}.sql.gz").read_bytes()))


def rows(url: str) -> Rows:
    keys = """
        SELECT class.relname, array_agg(attname ORDER BY attnum)
        FROM pg_index JOIN pg_class AS class ON class.oid = indrelid
        JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
        WHERE indisprimary AND relnamespace = 'public'::regnamespace GROUP BY 1
    """
    with psycopg.connect(url) as database:
        return {
            table: {
                tuple(str(row[name]) for name in key): row
                for (row,) in database.execute(f'SELECT to_jsonb(stored) FROM "{table}" AS stored')
            }
            for table, key in database.execute(keys).fetchall()
        }


def read(stack: Stack, recorded: dict[str, Any]) -> dict[str, Any]:
    """What this version answers to each request that is recorded."""
    answers = {}
    for name, addresses in recorded["answers"].items():
        headers = {"Authorization": f"Token {recorded['tokens'][name]}"}
        with httpx2.Client(base_url=stack.base_url, headers=headers, timeout=60, trust_env=False) as client:
            answers[name] = {address: client.get(address).json() for address in addresses}
    return answers


def lost(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Where `new` does not hold what `old` holds. Both: JSON."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in new:
                yield from lost(value, new[key], f"{at} {key}")
            else:
                yield f"{at} {key} is gone"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from lost(one, other, f"{at} {index}")
    elif old != new:
        yield f"{at}: {old!r} is now {new!r}"


def test_what_is_lost_is_found() -> None:
    old = {"text": "One", "calls": [{"n": 1}], "title": None}
    assert list(lost(old, old | {"more": 1, "calls": [{"n": 1, "more": 2}]})) == []
    assert list(lost(old, {"text": "Two", "calls": []})) == [
        " text: 'One' is now 'Two'", " calls: [{'n': 1}] is now []", " title is gone",
    ]  # fmt: skip


def test_the_dump_has_rows_of_every_table(old: Old) -> None:
    assert {table: len(kept) for table, kept in old.before.items()} == old.recorded["rows"]
    assert [table for table, kept in old.before.items() if not kept] == []


def test_migrations_only_add(old: Old) -> None:
    plan = [line.strip() for line in old.plan]
    # A table that no release has had may go again.
    unreleased = {
        line.replace("+ Create", "Delete").replace("Create", "Delete")
        for line in plan
        if "Create model" in line
    }
    assert [line for line in plan if line.startswith(TAKES_AWAY) and line not in unreleased] == []
    planned = {line for line in old.plan if re.fullmatch(r"\w+\.\w+", line)}
    applied = [
        {f"{row['app']}.{row['name']}" for row in tables["django_migrations"].values()}
        for tables in (old.released, old.after)
    ]
    assert planned
    assert planned <= applied[1] - applied[0]


def test_every_row_is_there(old: Old) -> None:
    # Columns of summaries that 0.2.0 gave up and nothing read.
    dropped = re.compile(r"^ chat_compression .* (prepared_text|prepared_cutoff_id|probe_score) is gone$")
    assert [line for line in lost(old.before, old.after) if not dropped.search(line)] == []
    added = {table for table, kept in old.before.items() if len(kept) != len(old.after[table])}
    assert added <= OF_MIGRATE


def test_everything_reads_as_it_did(old: Old) -> None:
    # Pictures had no count of tokens (decision 0032).
    counted = re.compile(r" files \d+ token_count: 0 is now [1-9]\d*$")
    assert [line for line in lost(old.recorded["answers"], old.answers) if not counted.search(line)] == []


def test_shared_links_show_what_they_did(old: Old) -> None:
    with old.browser() as stranger:
        for link, showed in old.recorded["shared"].items():
            page = stranger.get(link).text
            [shown] = re.findall(r'<script id="shown" type="application/json">(.*?)</script>', page)
            # Paragraph breaks where tools ran are new (decision 0040).
            assert list(lost(with_single_spaces(showed), with_single_spaces(json.loads(shown)))) == []


def with_single_spaces(shared: Any) -> Any:
    """The data of a shared page, each text on one line."""
    messages = [one | {"text": " ".join(one["text"].split())} for one in shared["messages"]]
    return shared | {"messages": messages}


def test_who_was_logged_in_still_is(old: Old) -> None:
    with old.browser("alice") as alice, old.browser() as stranger:
        assert alice.get("/").status_code == 200
        assert (
            alice.get("/api/sessions/?limit=200").json() == old.answers["alice"]["/api/sessions/?limit=200"]
        )
        assert stranger.get("/").status_code == 302
        entered = stranger.post("/api/auth/token/", json={"username": "bob", "password": "bob"})
        assert entered.status_code == 200


@pytest.mark.parametrize("page", ["index", "usage", "workers"])
def test_pages_of_the_admin_that_belong_to_no_table_open(old: Old, page: str) -> None:
    with old.browser("root") as root:
        assert root.get(reverse(f"admin:{page}")).status_code == 200


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_the_admin_shows_the_rows_of(old: Old, model: Any) -> None:
    listed = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    with old.browser("root") as root:
        page = root.get(listed, follow_redirects=True)
        assert page.status_code == 200
        if model._meta.db_table in old.before:
            links = sorted(set(re.findall(rf'href="({listed}[^"/]+/change/)', page.text)))
            assert links or str(page.url).endswith("/change/")
            for link in links[:5]:
                assert root.get(link).status_code == 200


@pytest.fixture(scope="module")
def with_workers(old: Old) -> Old:
    """With all processes."""
    old.stack.searching.find(MOON, SEA, query="moon")
    old.stack.upstream.reply({"text": SUMMARY}, model="narrow", stream=False)
    old.stack.upstream.reply({"text": ANSWER})
    for line in ("llm", "sweeper", "compression"):
        old.stack.start(line)
    return old


async def until(client: Client, address: str, is_true: Callable[[Any], bool]) -> Any:
    """What is read there, once `is_true` of it."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            found = await client.call("GET", address)
            if is_true(found):
                return found
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("title", LEFT_OVER)
async def test_turns_that_were_left_over_end(with_workers: Old, title: str) -> None:
    session = with_workers.session(title)
    assert session["is_answering"]
    async with with_workers.client() as alice:
        await until(alice, f"sessions/{session['id']}/", lambda found: not found["is_answering"])
        tree = await alice.call("GET", f"sessions/{session['id']}/tree/")
        assert [node["status"] for node in tree if node["role"] == "assistant"] == LEFT_OVER[title]


@pytest.mark.parametrize(
    ("title", "text", "attempt"),
    [
        pytest.param("Running", ANSWER, 2, id="of a dead worker, answered again"),
        pytest.param("Stopping", "One two three ", 2, id="of a dead worker, stopped"),
        pytest.param("Unannounced", "You said: Say nothing of it", 1, id="that had ended"),
    ],
)
async def test_runs_that_were_left_over_end(with_workers: Old, title: str, text: str, attempt: int) -> None:
    session = with_workers.session(title)
    async with with_workers.client() as alice:
        await until(alice, f"sessions/{session['id']}/", lambda found: not found["is_answering"])
        answer = (await alice.branch(session))[1]
        run = await alice.call("GET", f"runs/{answer['run']}/")
    assert answer["text"].startswith(text)
    assert run["attempt"] == attempt
    assert run["announced_at"]


@pytest.mark.parametrize("title", ["Compressing", "To be compressed"])
async def test_compressions_that_were_left_over_end(with_workers: Old, title: str) -> None:
    address = f"sessions/{with_workers.session(title)['id']}/compression/"
    assert with_workers.recorded["answers"]["alice"][f"/api/{address}"]["is_under_way"]
    async with with_workers.client() as alice:
        found = await until(alice, address, lambda found: not found["is_under_way"])
    assert found["summary"]["text"] == SUMMARY


async def new_turn(with_workers: Old, owner: str, title: str, **body: Any) -> tuple[Socket, Received]:
    """One more question in an old session; what its socket heard, and what its model was sent."""
    session = with_workers.session(title, owner)
    async with with_workers.client(owner) as client, client.socket() as socket:
        await socket.subscribe(session["id"], since=0)
        turn = await client.ask(session, f"What is new in {title}?", **body)
        ended = await socket.ended(turn["runs"][0]["id"])
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        assert ended.text == (await client.branch(session))[-1]["text"] == ANSWER
    [asked] = [one for one in with_workers.stack.upstream.requests if f"new in {title}?" in str(one.messages)]
    return socket, asked


async def test_an_old_session_goes_on(with_workers: Old) -> None:
    socket, asked = await new_turn(with_workers, "alice", "Tides")
    said = [(message["role"], message.get("content")) for message in asked.messages]
    recorded = with_workers.recorded["answers"]["alice"]
    branch = recorded[f"/api/sessions/{with_workers.session('Tides')['id']}/messages/"]
    for message in branch:
        # What was said before the tools is sent with their calls.
        before = message["tool_calls"][0].get("text_before", "") if message["tool_calls"] else ""
        text = message["text"].removeprefix(before)
        assert [content for role, content in said if role == message["role"] and text in str(content)]
    assert any(role == "tool" for role, _ in said)
    numbers = [frame["n"] for _, frame in socket.frames if frame["type"] in ("turn_started", "overall_stop")]
    assert numbers == list(range(1, 2 * (len(branch) // 2 + 1) + 1)), "all events, old and new"


async def test_an_old_summary_is_used(with_workers: Old) -> None:
    session = with_workers.session("Long")
    recorded = with_workers.recorded["answers"]["alice"]
    tree = recorded[f"/api/sessions/{session['id']}/tree/"]
    [summary] = [node for node in tree if node["role"] == "summary"]
    [below] = [node for node in tree if node["parent"] == summary["parent"] and node["role"] == "assistant"]
    _, asked = await new_turn(with_workers, "alice", "Long", parent=below["id"], models=["narrow"])
    assert "They counted turns." in str(asked.messages)


async def test_old_files_and_prompts_are_shown_to_models(with_workers: Old) -> None:
    _, asked = await new_turn(with_workers, "bob", "Harbour")
    for text in ("You know the harbour.", "You know the pier.", "Pier 4: 7 m.", "day,high"):
        assert text in str(asked.messages)
    assert "You are helpful." in asked.messages[0]["content"]
