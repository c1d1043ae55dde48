"""Every member of every command with each odd value: a fixed sweep, beside the examples of test_socket_fuzzing.py.

Each frame is answered as the AsyncAPI document says, closes no socket, and changes nothing if it is refused.
"""

import json
import logging
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.matrix import asyncapi, wire
from tests.matrix.belongings import fingerprint
from tests.matrix.frames import Frame
from tests.matrix.test_socket import Case, cases
from tests.matrix.test_socket_fuzzing import Fuzz, errors  # noqa: F401  a fixture

# On every command; the others are those that the document names.
EVERYWHERE = ("type", "id", "request_id", "more")
ODD: dict[str, Any] = {
    "empty": "", "blank": " ", "no id": "no id", "an absent id": str(uuid.UUID(int=7)), "the id of nothing": str(uuid.UUID(int=0)),
    "an id in braces": "{00000000-0000-4000-8000-000000000001}", "an id without hyphens": "0" * 32, "an id and more": str(uuid.UUID(int=7)) + "\n",
    "NUL": "\x00", "a lone surrogate": "\ud800", "zero width": "\u200b", "right to left": "\u202e", "long": "x" * 20_000, "quotes": "';--",
    "null": None, "true": True, "false": False, "0": 0, "-1": -1, "2^31": 2**31, "2^63": 2**63, "10^30": 10**30, "1.5": 1.5, "1e308": 1e308,
    "an empty list": [], "a list of null": [None], "a list of lists": [[[]]], "a list of surrogates": ["\ud800"], "a list of numbers": [1, 2.5],
    "a long list": ["x"] * 5_000, "an empty object": {}, "an object": {"\ud800": {"attempt": None}}, "an object of objects": {"a": {"b": {}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with wire.web() as address:
        yield address


def each_case() -> list[Any]:
    """Every change sweeps the command with the most members."""
    every_change = {"send": ()}
    return [
        pytest.param(
            case,
            id=f"{case.kind} {' '.join(map(str, case.also))}".strip(),
            marks=every_change.get(case.kind, pytest.mark.full),
        )
        for case in cases()
    ]


@pytest.mark.parametrize("case", each_case())
def test_odd_values_of_every_member_are_answered_and_change_nothing(
    address: str,
    transactional_db: None,
    errors: list[logging.LogRecord],  # noqa: F811
    record_property: Any,
    case: Case,
) -> None:
    fuzz = Fuzz(address, errors, record_property)
    members = {*asyncapi.commands()[case.kind]["properties"], *EVERYWHERE}
    for name in sorted(members):
        fuzz.make_room()
        example = case.example(fuzz.ids)
        sweep(fuzz, [Frame(json.dumps({**example, name: value})) for value in ODD.values()])


def sweep(fuzz: Fuzz, frames: list[Frame]) -> None:
    with fuzz.socket() as socket:
        before = fingerprint()
        for frame in frames:
            reply = fuzz.send_and_judge(socket, frame)
            after = fingerprint()
            assert reply["type"] != "error" or after == before, (frame, reply)
            before = after
        fuzz.check_alive(socket)
    fuzz.check()
