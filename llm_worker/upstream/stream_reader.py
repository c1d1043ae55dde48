"""Reads one answer, streamed or not: bytes in, deltas out, and whether the answer is complete. Pure.

A JSON completion counts as the answer; an error is classified like any other; the first words of a page are kept.

Strict about structure, lenient about details; after a finish reason nothing turns the answer into a failure.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from chat.transcript.finish import BROKEN
from llm_worker.upstream.chunks import parse_chunk, read_object
from llm_worker.upstream.deltas import (
    Broken,
    Delta,
    Finished,
    Kept,
    ModelFailed,
    Parsed,
    ReasoningDelta,
    Skipped,
    TextDelta,
    ToolCallDelta,
)
from llm_worker.upstream.failures import TRANSIENT, classify_reported, read_error
from llm_worker.upstream.kept_members import KeptMembers
from llm_worker.upstream.sse import EventSplitter, EventTooLong

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


DONE: Final = b"[DONE]"
TEXT_DELTAS = (TextDelta, ReasoningDelta)
# Characters up to which deltas are merged: well below the size at which a packet would be split.
MERGED_CHARACTERS = 4_000
# Bytes of white space at the beginning, from which on the body is taken for an event stream.
_MAX_BLANKS: Final = 4_096
_FIRST_BYTES: Final = 1_000
_BOM: Final = b"\xef\xbb\xbf"
_BRACE: Final = ord("{")
_DELTA: Final = b'"delta"'
_MESSAGE: Final = b'"message"'


class StreamReader:
    """Reads one streamed answer. chunks: the number parsed.  has_finished: a finish_reason or [DONE] was received.

    skipped: how often members and events were not understood, by name.
    """

    def __init__(self) -> None:
        self.chunks = 0
        self.has_spoken = False
        self.has_finished = False
        self.is_done = False
        self.failure: ModelFailed | None = None
        self.skipped: Counter[str] = Counter()
        self._splitter = EventSplitter()
        self._body: Body | None = None
        self._feed: Callable[[bytes], list[bytes]] = self._begin
        self._beginning = b""
        # The latest event that was passed over, and the number of chunks before it.
        self._unread = b"", 0
        self._has_calls = False
        # The kinds of what came in deltas. A message at the end that repeats them adds nothing.
        self._came: frozenset[type] = frozenset()
        self._kept = KeptMembers()
        self._is_cut = False  # the bytes ended before the answer

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed after this failure. If the response is no stream, it may not."""
        is_transient = self.failure is not None and self.failure.code in TRANSIENT
        return self._body is None and (is_transient or self._is_cut)

    def take(self, received: bytes) -> list[Delta]:
        """Return the deltas in these bytes, up to the first invalid chunk, whose error is kept in `failure`.

        Consecutive short texts are merged into one delta.
        """
        deltas: list[Delta] = []
        try:
            events = self._feed(received)
        except EventTooLong as error:
            events = []
            self._fail(ModelFailed("upstream_malformed", str(error)))
            self.is_done = self.has_finished  # what follows would be held for nothing
        for event in events:
            try:
                if event[0] == _BRACE:
                    self._take_chunk(event, deltas)
                elif self._take_odd(event, deltas):
                    break
            except ModelFailed as error:
                self._fail(error)
                if self.failure:
                    break
        return deltas

    def end(self) -> list[Delta]:
        """Return the deltas that only the end of the bytes completes.

        `failure` is set unless the answer is complete.
        """
        deltas: list[Delta] = []
        if self.failure or self.is_done:
            return deltas
        try:
            if self._body:
                self._take_objects(self._body.events(), deltas)
            else:
                self._take_rest(deltas)
        except ModelFailed as error:
            self._fail(error)
        if not self.has_finished:
            self._fail(self.failure or self._incomplete())
        return deltas

    def _begin(self, received: bytes) -> list[bytes]:
        """Decide by the first character what the body is; a byte order mark before it does not count."""
        self._beginning += received
        begun = self._beginning.removeprefix(_BOM).lstrip()
        is_undecided = not begun or (len(self._beginning) < len(_BOM) and _BOM.startswith(self._beginning))
        if is_undecided and len(self._beginning) < _MAX_BLANKS:
            return []
        if is_body(begun):
            self._body = Body()
            self._feed = self._body.feed
        else:
            self._feed = self._splitter.feed
        received = self._beginning.removeprefix(_BOM)
        self._beginning = begun[:_FIRST_BYTES]
        return self._feed(received)

    def _take_chunk(self, event: bytes, deltas: list[Delta]) -> None:
        # Each message of a server that streams messages, and no deltas, adds something.
        is_delta = _DELTA in event and _MESSAGE not in event
        for delta in parse_chunk(event, came=self._came):
            if is_delta and type(delta) not in self._came:
                self._came |= {type(delta)}
            self._add(deltas, delta)
        self.chunks += 1

    def _take_odd(self, event: bytes, deltas: list[Delta]) -> bool:
        """Take an event that does not begin as a chunk: the end (return True), chunks in a list, or a heartbeat."""
        said = event.strip()
        if said == DONE:
            self.is_done = self.has_finished = True
            self._give_kept(deltas)
        elif said[:1] in (b"{", b"["):
            self._take_objects(read_objects(said), deltas)
        elif said:
            self._pass_over(said)
        return self.is_done

    def _take_rest(self, deltas: list[Delta]) -> None:
        """Take the last event without its blank line, unless it was cut."""
        for event in self._splitter.feed(b"\n\n"):
            try:
                self._take_odd(event, deltas)
            except ModelFailed as error:
                if error.code != "upstream_malformed":
                    raise

    def _take_objects(self, objects: Iterable[list[Parsed]], deltas: list[Delta]) -> None:
        for read in objects:
            for delta in read:
                self._add(deltas, delta)
            self.chunks += 1

    def _pass_over(self, event: bytes) -> None:
        self.skipped["event"] += 1
        self._unread = event, self.chunks

    def _incomplete(self) -> ModelFailed:
        """Build the failure of bytes that ended before the answer did.
        It quotes the last event if that was passed over.
        """
        event, before = self._unread
        if event and before == self.chunks:
            return no_completion(event)
        if self._body or (self._beginning and not self.chunks and not has_fields(self._beginning)):
            return no_completion(self._beginning)
        self._is_cut = True
        return ModelFailed("upstream_interrupted", "the stream ended in the middle")

    def _give_kept(self, deltas: list[Delta]) -> None:
        """Append what the server wants back, once, at the end of an answer with calls."""
        if self._has_calls and (sent := self._kept.give()):
            deltas.append(sent)

    def _fail(self, failure: ModelFailed) -> None:
        if not self.has_finished:
            self.failure = failure

    def _add(self, deltas: list[Delta], delta: Parsed) -> None:
        if isinstance(delta, TEXT_DELTAS):
            self.has_spoken = True
            latest = deltas[-1] if deltas else None
            if (
                isinstance(latest, TEXT_DELTAS)
                and type(latest) is type(delta)
                and len(latest.text) < MERGED_CHARACTERS
            ):
                deltas[-1] = type(delta)(latest.text + delta.text)
                return
        elif isinstance(delta, ToolCallDelta):
            self.has_spoken = self._has_calls = True  # calls are shown while they are written
        elif isinstance(delta, Kept | Skipped | Broken):
            self._take_rare(delta)
            return
        elif isinstance(delta, Finished):
            self._give_kept(deltas)
            self.has_finished |= delta.reason.lower() not in BROKEN
        deltas.append(delta)

    def _take_rare(self, delta: Kept | Skipped | Broken) -> None:
        """Take a delta that is no part of the answer. Raises ModelFailed."""
        if isinstance(delta, Broken):
            raise delta.failure
        if isinstance(delta, Kept):
            self._kept.take(delta)
        else:
            self.skipped.update(delta.names)
            if delta.said:
                self._unread = delta.said, self.chunks + 1
