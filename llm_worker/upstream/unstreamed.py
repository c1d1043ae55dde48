"""Reads the body of a successful response that is not, or not only, an event stream. Pure.

A JSON completion counts as the answer; an error is classified like any other; the first words of a page are kept.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from llm_worker.upstream.chunks import read_object
from llm_worker.upstream.deltas import ModelFailed, Parsed
from llm_worker.upstream.error_report import read_error
from llm_worker.upstream.failure_codes import classify_reported
from llm_worker.upstream.sse import EventTooLong

# Completions that are not streamed are titles and summaries.
MAX_COMPLETION_BYTES: Final = 8 * 1024 * 1024
_FIRST_WORDS: Final = 300
_SSE_LINE: Final = re.compile(rb"\s*(?:data|event|id|retry|error|:)")


def is_body(begun: bytes) -> bool:
    """Return whether a response with this beginning is JSON or a page. No line of an event stream begins so."""
    return begun[:1] in (b"{", b"[", b"<")


class Body:
    """Collects a body; its events are known at its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, received: bytes) -> list[bytes]:
        """Store the bytes and return no events yet. Raises EventTooLong."""
        self._pieces.append(received)
        self._length += len(received)
        if self._length > MAX_COMPLETION_BYTES:
            raise EventTooLong("the completion does not end")
        return []

    def events(self) -> Iterator[list[Parsed]]:
        """Return the deltas of each object in the body. Raises ModelFailed."""
        return read_objects(b"".join(self._pieces), otherwise="upstream_rejected")


def read_objects(said: bytes, otherwise: str = "upstream_interrupted") -> Iterator[list[Parsed]]:
    """Yield the deltas of each object: one, those of a list, or one per line. Raises ModelFailed if there is none.

    otherwise: the code of an error whose text does not identify it.
    """
    is_empty = True
    for each in _objects(said):
        is_empty = False
        yield read_object(each, otherwise)
    if is_empty:
        raise no_completion(said)


def no_completion(said: bytes) -> ModelFailed:
    """Build the failure of a body that is not a chat completion, with its first words."""
    text = said.decode("utf-8", "replace")
    report = read_error(text)
    code = (
        classify_reported(report, otherwise="upstream_malformed")
        if text[:1] in "{["
        else "upstream_malformed"
    )
    words = (report.message or text.strip())[:_FIRST_WORDS]
    return ModelFailed(code, f"not a chat completion: {words}", report.status, report.code)


def has_fields(beginning: bytes) -> bool:
    """Return whether bytes begin as an event stream does."""
    return bool(_SSE_LINE.match(beginning))


def _objects(said: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects: a single one, those of a list, or one per line."""
    text = said.decode("utf-8", "replace")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = _lines(text)
    for each in read if isinstance(read, list) else [read]:
        if isinstance(each, Mapping):
            yield each


def _lines(text: str) -> list[Any]:
    """Parse one JSON value per line, up to the first line that is not JSON."""
    read = []
    for line in text.splitlines():
        try:
            read += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError):
            break
    return read
