"""Frames nobody thought of: each is answered as the AsyncAPI document says, and what is refused changes nothing.

TURNWIRE_SEED and TURNWIRE_EXAMPLES choose other examples, and more, than the fixed ones.
"""

import json
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from chat.infrastructure.redis_client import sync_redis
from chat.models import ChatMessage, Role, Run, Session, Turn
from tests.matrix import asyncapi, belongings, wire
from tests.matrix.belongings import fingerprint
from tests.matrix.frames import CLOSING, Frame, frames
from tests.matrix.subjects import Identity, with_token_of
from tests.matrix.wire import Closed, Wire

# The web server's thread uses `random` whenever it likes, also while an example is drawn.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the .random. module inside strategies")
SEED = int(os.environ.get("TURNWIRE_SEED") or 0)
EXAMPLES = int(os.environ.get("TURNWIRE_EXAMPLES") or 60)
# Faults of the server, whatever was sent.
SERVER_FAULTS = {"internal_error", "unavailable", "stream_unavailable"}
# Said about the shape of a command: not of one that is as the document describes it.
ABOUT_SHAPE = {
    "invalid_json",
    "json_too_deep",
    "invalid_type",
    "unknown_type",
    "unknown_field",
    "field_required",
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with wire.web() as address:
        yield address


class Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def errors() -> Iterator[list[logging.LogRecord]]:
    """What the processes' logs would say of tracebacks."""
    handler = Errors()
    logging.getLogger().addHandler(handler)
    yield handler.records
    logging.getLogger().removeHandler(handler)


class Fuzz:
    """Sends frames of one user, and judges what comes back."""

    def __init__(
        self, address: str, errors: list[logging.LogRecord], record: Callable[[str, str], None]
    ) -> None:
        sync_redis().flushdb()
        belongings.create_models()
        self.owner = belongings.create_belongings("alice")
        other = belongings.create_belongings("bob")
        self.identity: Identity = with_token_of(self.owner.user)
        self.address = address
        self.errors = errors
        self.record = record
        self.ids = {**self.owner.ids, "absent": str(uuid.uuid4()), "theirs": other.ids["session"]}
        self.numbers = {"examples": 0, "frames": 0, "accepted": 0, "refused": 0}

    def socket(self) -> Any:
        return wire.opened(self.address, self.identity)

    def one_by_one(self, script: list[Frame]) -> None:
        """A refused command stores nothing."""
        with self.socket() as socket:
            for frame in script:
                before = fingerprint()
                reply = self.send_and_judge(socket, frame)
                if reply["type"] == "error":
                    assert fingerprint() == before, (frame, reply)
            self.check_alive(socket)
        self.check()

    def at_once(self, script: list[Frame]) -> None:
        """Every frame has one reply, in order; questions are stored for those that were accepted, and for no other."""
        before = questions()
        with self.socket() as socket:
            for frame in script:
                self.send(socket, frame)
            replies = [self.judge(frame, socket.reply()) for frame in script]
            self.check_alive(socket)
        sent = {reply["user_message"] for reply in replies if "user_message" in reply}
        assert questions() - before <= sent, script
        self.check()

    def cut(self, script: list[Frame], code: int | None) -> None:
        """The connection ends in the middle, by the client or by a frame that the server closes it for."""
        with self.socket() as socket:
            for frame in script:
                self.send(socket, frame)
            if code is None:
                socket.close()
            else:
                socket.send(CLOSING[code], is_text=True)
                assert socket.close_code() == code
            assert socket.faults == []
        with self.socket() as socket:
            self.check_alive(socket)
        self.check()

    def send_and_judge(self, socket: Wire, frame: Frame) -> dict[str, Any]:
        self.send(socket, frame)
        return self.judge(frame, socket.reply())

    def send(self, socket: Wire, frame: Frame) -> None:
        self.numbers["frames"] += 1
        socket.send(frame.filled(self.ids), is_text=not frame.is_binary)

    def judge(self, frame: Frame, reply: dict[str, Any]) -> dict[str, Any]:
        """The reply, unless it is one that this frame must not have."""
        is_refused = reply["type"] == "error"
        self.numbers["refused" if is_refused else "accepted"] += 1
        command = None if frame.is_binary else decoded(frame.filled(self.ids))
        is_valid = asyncapi.is_valid_command(command)
        if is_refused:
            assert reply["code"] not in SERVER_FAULTS, (frame, reply)
            assert not (is_valid and reply["code"] in ABOUT_SHAPE), (frame, reply)
        else:
            assert is_valid, (frame, reply)
        if isinstance(command, dict) and isinstance(command.get("id"), str | int | float) and not is_refused:
            assert reply.get("id") == command["id"], (frame, reply)
        return reply

    def check_alive(self, socket: Wire) -> None:
        mark = uuid.uuid4().hex
        assert socket.ask(type="ping", id=mark) == {"type": "pong", "id": mark}
        assert socket.faults == []

    def check(self) -> None:
        assert not self.errors, [record.getMessage() for record in self.errors]

    def make_room(self) -> None:
        """So that no example is refused for what earlier ones have started."""
        self.numbers["examples"] += 1
        kept = {self.ids["question"], self.ids["waiting_question"]}
        if Turn.objects.count() > 30:
            Session.objects.exclude(pk__in=[self.ids["session"], self.ids["live_session"]]).delete()
            Turn.objects.exclude(user_message__in=kept).delete()
            Run.objects.filter(turn=None).delete()


def questions() -> set[str]:
    return {str(pk) for pk in ChatMessage.objects.filter(role=Role.USER).values_list("pk", flat=True)}


def decoded(data: str | bytes) -> Any:
    """The value of the JSON; None if it is not JSON, or ambiguous."""
    try:
        return json.loads(data, parse_constant=_not_json, parse_float=_finite, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return None


def _not_json(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


def run(fuzz: Fuzz, strategy: st.SearchStrategy[Any], example: Callable[..., None], number: int) -> None:
    @seed(SEED)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(strategy)
    def each(drawn: Any) -> None:
        fuzz.make_room()
        try:
            example(*drawn)
        except Closed as closed:
            raise AssertionError(f"closed with {closed.code}: {drawn}") from closed

    try:
        each()
    finally:
        said = ", ".join(f"{count} {name}" for name, count in fuzz.numbers.items())
        fuzz.record("sampled", f"socket fuzzer: {said}, TURNWIRE_SEED={SEED}")


@pytest.fixture
def fuzz(address: str, transactional_db: None, errors: list[logging.LogRecord], record_property: Any) -> Fuzz:
    return Fuzz(address, errors, record_property)


def scripts(most: int) -> st.SearchStrategy[list[Frame]]:
    return st.lists(frames(), min_size=1, max_size=most)


def test_every_frame_is_answered_and_what_is_refused_stores_nothing(fuzz: Fuzz) -> None:
    run(fuzz, st.tuples(scripts(6)), fuzz.one_by_one, EXAMPLES)
    assert min(fuzz.numbers.values()) > 0


@pytest.mark.full
def test_frames_that_arrive_together_are_answered_in_order(fuzz: Fuzz) -> None:
    run(fuzz, st.tuples(scripts(12)), fuzz.at_once, EXAMPLES // 2)


def test_a_connection_that_ends_in_the_middle_harms_nothing(fuzz: Fuzz) -> None:
    ends = st.sampled_from([None, *CLOSING])
    run(fuzz, st.tuples(scripts(5), ends), fuzz.cut, EXAMPLES // 3)


@pytest.mark.parametrize(
    "frame",
    ['{"type":"ping"}', "{", '{"type":"send","session":"{session}","text":""}'],
    ids=["valid", "noise", "refused"],
)
def test_a_flood_is_refused_and_then_closed(fuzz: Fuzz, frame: str) -> None:
    before = fingerprint()
    with fuzz.socket() as socket:
        ended = threading.Event()

        def flood() -> None:
            while not ended.is_set():
                fuzz.send(socket, Frame(frame))

        thread = threading.Thread(target=flood)
        thread.start()
        code = socket.close_code()
        ended.set()
        thread.join()
        codes = {one.get("code") for one in socket.seen}
        assert (code, "rate_limited" in codes, len(codes), socket.faults) == (4429, True, 2, [])
    assert fingerprint() == before
    with fuzz.socket() as socket:
        fuzz.check_alive(socket)
    fuzz.check()
