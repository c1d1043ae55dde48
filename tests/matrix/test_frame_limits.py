"""A frame, or a member of a command, that is a little too long is refused as documented, and changes nothing."""

import json
from collections.abc import Iterator

import pytest

from tests.matrix import asyncapi, belongings, wire
from tests.matrix.belongings import Belongings, fingerprint
from tests.matrix.subjects import with_token_of
from tests.matrix.test_socket import cases

FRAME_BYTES = 256 * 1024


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with wire.web() as address:
        yield address


@pytest.fixture
def committed_rows(transactional_db: None) -> Belongings:
    belongings.create_models()
    return belongings.create_belongings("alice")


def test_a_frame_of_each_command_has_the_limit(address: str, committed_rows: Belongings) -> None:
    """In bytes; what is between the members of JSON counts too."""
    owner, token = committed_rows, with_token_of(committed_rows.user)
    for case in cases():
        command = json.dumps(case.example(owner.ids))
        padded = command + " " * (FRAME_BYTES - len(command))
        with wire.opened(address, token) as socket:
            socket.send(padded)
            assert socket.reply()["type"] in asyncapi.replies()
            before = fingerprint()
            socket.send(padded + " ")
            assert socket.close_code() == 1009, case
            assert (fingerprint(), socket.faults) == (before, [])


def test_long_members_of_commands_are_refused_and_the_socket_stays_open(
    address: str, committed_rows: Belongings
) -> None:
    owner, token = committed_rows, with_token_of(committed_rows.user)
    session, cursor = owner.ids["session"], {"attempt": 1, "seq": 1}
    cursors = {f"00000000-0000-4000-8000-{number:012d}": cursor for number in range(201)}
    cases = [
        ({"type": "ping", "id": "x" * 201}, "invalid_type"),
        ({"type": "subscribe", "session": session, "cursors": cursors}, "invalid_cursor"),
        ({"type": "subscribe", "session": session, "since": 2**31}, "invalid_cursor"),
        ({"type": "send", "session": session, "text": "x" * 100_001}, "message_too_long"),
        (
            {"type": "send", "session": session, "text": "x", "additional_context": "x" * 8001},
            "invalid_value",
        ),
        ({"type": "send", "session": session, "text": "x", "client_message_id": "x" * 101}, "invalid_value"),
        ({"type": "send", "session": session, "text": "x", "models": list("abcde")}, "models_invalid"),
    ]
    with wire.opened(address, token) as socket:
        for command, code in cases:
            assert not asyncapi.is_valid_command(command) or code == "message_too_long", command
            before = fingerprint()
            assert socket.ask(**command)["code"] == code
            assert fingerprint() == before
        assert socket.ask(type="ping")["type"] == "pong"
        assert socket.faults == []


def test_the_limit_is_documented() -> None:
    assert f"1009 frame over {FRAME_BYTES // 1024} KiB" in asyncapi.DOCUMENT["info"]["description"]
