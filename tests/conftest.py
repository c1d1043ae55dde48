"""Services and fixtures for all tests.

Postgres and Valkey get their addresses before Django reads its settings, and start when a test is to run that is not
marked `pure`.
"""

import gc
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import django
import httpcore2
import psycopg
import pytest
from django.conf import settings

from tests import (
    examples,  # noqa: F401  registers the profile that make quick names
    migrated_cluster,
    node_ids,
    parts,
    reruns,
    secrets_keys,
    suites,
)
from tests import services as test_services

# Half a second of imports, which tests without processes do not need.
if TYPE_CHECKING:
    from tests.object_store import ObjectStore
    from tests.stack import Stack
    from tests.upstream import Upstream

SERVICES = test_services.reserve_for_this_process()
# Here and not in pyproject.toml: pytest-django would read the settings before the services have addresses.
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()
# Processes that run tests side by side inherit this one's environment: with it they would read the settings, and
# take this one's services for their own, before they have started theirs.
del os.environ["DJANGO_SETTINGS_MODULE"]
settings.SECRETS_KEYS = [secrets_keys.FIRST]
# The host of Django's test client.
settings.SITE_ORIGIN = "http://testserver"
# Nobody attacks these users, and a proper hash takes a third of a second of every test that makes one.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Each client of HTTP reads the machine's certificates, which takes a fiftieth of a second of the processor.
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)

from django.db import connection  # noqa: E402  needs the settings

from tests import static_files  # noqa: E402
from tests.empty_tables import empty_instead_of_flush  # noqa: E402

empty_instead_of_flush()
static_files.look_once()


def pytest_addoption(parser: pytest.Parser) -> None:
    parts.add_option(parser)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which no test is to run. None: other plugins decide."""
    return suites.is_ignored(collection_path, config.option.markexpr) or None


@pytest.hookimpl(trylast=True)  # after -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    node_ids.make_unique(items)
    reruns.mark(items)
    suites.set_time_limits(items)
    parts.deselect_others(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What is imported stays: neither while it is nor later need collections of garbage visit it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Migrate now, and not within the time limit of the first test."""
    needs_services = any(item.get_closest_marker("pure") is None for item in session.items)
    if needs_services and not session.config.option.collectonly:
        migrated_cluster.make()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("pure") is None:
        SERVICES.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A pure test that reaches for a server or starts a process fails, whether or not services run."""
    if item.get_closest_marker("pure") is None:
        return (yield)
    with (
        mock.patch.object(socket.socket, "connect", _refused),
        mock.patch.object(subprocess, "Popen", _refused),
    ):
        return (yield)


def _refused(*_args: object, **_options: object) -> None:
    if threading.current_thread() is not threading.main_thread():
        # One that an earlier test has left behind: as if nothing listened, so that its client closes the socket.
        raise ConnectionRefusedError("a pure test is running")
    raise AssertionError("a test marked pure needs no server and no other process")


@pytest.fixture(scope="session")
def services() -> test_services.Services:
    return SERVICES.start()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, services: test_services.Services
) -> None:
    """pytest-django's hook: the test database is a copy of one that is migrated."""
    if services.has_template:
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_cluster.TEMPLATE


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Before the test database is dropped, end the sessions that threads of ended tests still hold in it.

    A thread that was abandoned in the middle of its work (a socket that was cut, a worker told to end) gives its
    connection back when it is collected, which may be later than this. How many there were is printed.
    """
    yield
    with django_db_blocker.unblock():
        connection.close()
        connection.close_pool()
        name = connection.settings_dict["NAME"]
        ours = SERVICES.postgres_url
        with psycopg.connect(ours, autocommit=True) as admin:
            query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
            row = admin.execute(query, [name]).fetchone()
    if row and row[0]:
        print(f"sessions left in {name}: {row[0]}")


@pytest.fixture(scope="session")
def running_stack(services: test_services.Services) -> "Iterator[Stack]":
    """One for all: two would take each other's runs from the same queue."""
    from tests.search_server import SearchServer
    from tests.stack import Stack
    from tests.upstream import Upstream

    with (
        Upstream() as upstream,
        SearchServer() as searching,
        Stack.running(services, upstream, searching) as stack,
    ):
        yield stack


@pytest.fixture(scope="module")
def lasting() -> None:
    """What the fixtures of a module store is there for all its tests."""


@pytest.fixture
def stack(running_stack: "Stack", request: pytest.FixtureRequest) -> "Stack":
    """The real processes, without what earlier tests left: answers, chats and files, what the servers were told to do."""
    from tests import leftovers

    running_stack.mend()
    leftovers.end_answers(running_stack)
    if "lasting" not in request.fixturenames:
        leftovers.forget(running_stack)
    running_stack.upstream.reset()
    running_stack.searching.reset()
    return running_stack


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What tests sampled: seed, and what was left out. Said at the end, since their own output stays in their process."""
    reruns.summarize(terminalreporter)
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    lines = [value for report in reports for name, value in report.user_properties if name == "sampled"]
    if lines:
        terminalreporter.section("sampled")
    for line in lines:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def object_store() -> "Iterator[ObjectStore]":
    from tests.object_store import ObjectStore

    store = ObjectStore()
    store.start()
    yield store
    store.close()


@pytest.fixture(scope="session")
def embeddings_server() -> "Iterator[Upstream]":
    from tests.upstream import Upstream

    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def embeddings_upstream(embeddings_server: "Upstream", settings: Any) -> "Upstream":
    """The server that computes embeddings in this process, of the model `sea`."""
    embeddings_server.reset()
    settings.EMBEDDINGS_BASE_URL = embeddings_server.base_url
    settings.EMBEDDINGS_MODEL = "sea"
    return embeddings_server
