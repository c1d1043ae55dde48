"""Looks for words that only documents hold in everything that a deployment shows, keeps or sends.

leaks = Leaks(words); with leaks.listening(): …; assert leaks.found(…) == []
"""

import json
import logging
import re
import threading
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from django.contrib import admin
from django.db import connection
from django.urls import reverse

from chat.infrastructure.redis_client import sync_redis
from config.log_format import TextFormatter
from tests.upstream import Received, Upstream

# Where the documents and what describes them are kept.
SOURCES = frozenset(
    {
        "knowledge_chunk",
        "knowledge_chunkvector",
        "knowledge_deletedblob",
        "knowledge_document",
        "knowledge_file",
        "knowledge_knowledgebase",
    }
)
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


class Leaks:
    """words: in lower case. Each method returns the places with one of them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
        self.frames: list[bytes] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Collects what is published meanwhile: all frames of all sockets go through Redis."""
        subscriber = sync_redis().pubsub()
        subscriber.psubscribe("*")
        is_over = threading.Event()

        def listen() -> None:
            while not is_over.is_set():
                if (message := subscriber.get_message(timeout=0.1)) and isinstance(message["data"], bytes):
                    self.frames.append(message["data"])

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
            subscriber.close()

    def has(self, shown: Any) -> bool:
        if isinstance(shown, bytes):
            shown = shown.decode("utf-8", "replace")
        return bool(self._words.search(shown if isinstance(shown, str) else json.dumps(shown, default=str)))

    def in_tables(self, database: Any = connection) -> list[str]:
        """Every row of every table but those of the documents themselves. database: a connection of Django or psycopg."""
        with database.cursor() as cursor:
            tables = [one for (one,) in _read(cursor, TABLES) if one not in SOURCES]
            rows = {one: _read(cursor, f'SELECT t::text FROM "{one}" AS t') for one in sorted(tables)}
        return [f"{one}: {row}" for one, found in rows.items() for (row,) in found if self._words.search(row)]

    def in_redis(self, redis: Any = None) -> list[str]:
        redis = redis or sync_redis()
        return [
            f"redis {key!r}" for key in redis.scan_iter() if self.has(key) or self.has(_value(redis, key))
        ]

    def in_frames(self) -> list[str]:
        return [f"frame {frame!r}" for frame in self.frames if self.has(frame)]

    def in_logs(self, records: Iterable[logging.LogRecord]) -> list[str]:
        """Tracebacks included."""
        formatter = TextFormatter()
        lines = (formatter.format(record) + str(record.args) for record in records)
        return [f"log {line}" for line in lines if self.has(line)]

    def in_requests(self, upstream: Upstream) -> list[str]:
        """Requests to models, but those to secondary models."""
        asked = (one for one in (*upstream.requests, *upstream.asides) if not is_secondary(one))
        return [f"request {one.body}" for one in asked if self.has(one.body)]

    def in_answers(self, client: Any, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if self.has(_body(client.get(path)))]

    def in_admin(self, staff: Any) -> list[str]:
        """Every list, and every page of a row with its history, that this client may open."""
        return self.in_answers(staff, ["/metrics", *_admin_pages()])


def is_secondary(received: Received) -> bool:
    return "temperature" in received.body


def _read(cursor: Any, query: str) -> list[tuple[str]]:
    cursor.execute(query)
    rows: list[tuple[str]] = cursor.fetchall()
    return rows


def _value(redis: Any, key: bytes) -> str:
    reads = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"set": redis.smembers,
        b"zset": lambda key: redis.zrange(key, 0, -1),
        b"stream": redis.xrange,
    }
    kind = redis.type(key)
    return repr(reads[kind](key)) if kind in reads else ""


def _admin_pages() -> Iterator[str]:
    for model in admin.site._registry:
        place = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{place}_changelist")
        for pk in model._default_manager.values_list("pk", flat=True):
            yield from (reverse(f"{place}_{page}", args=[pk]) for page in ("change", "history"))
            yield reverse("admin:lookup") + f"?q={pk}"
    yield from (reverse(f"admin:{page}") for page in ("index", "usage", "workers"))


def _body(response: Any) -> str:
    """The files of an archive unpacked."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    if zipfile.is_zipfile(BytesIO(content)):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            content = b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())
    return str(content.decode("utf-8", "replace"))
