"""The rewrites in what a model replies."""

import pytest

from llm_worker.side_requests.query_expansion import MAX_QUERY_CHARACTERS, MAX_REWRITES, rewrites_in

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("reply", "rewrites"),
    [
        ('{"queries": ["ebb", "low water"]}', ["ebb", "low water"]),
        ('["ebb", "low water"]', ["ebb", "low water"]),
        ('```json\n{"queries": ["ebb"]}\n```', ["ebb"]),
        ('<think>{"queries": ["no"]}</think>Here: {"queries": ["ebb"]} as you asked.', ["ebb"]),
        ('{"queries": ["tides", " TIDES ", "ebb", "Ebb", ""]}', ["ebb"]),
        ('{"queries": [1, null, {"a": "b"}, ["c"], "ebb\\nflow"]}', ["ebb flow"]),
        ('{"queries": "ebb"}', []),
        ('{"searches": ["ebb"]}', []),
        ("ebb, low water", []),
        ('{"queries": ["ebb"', []),
        ("[" * 100_000, []),
        ("", []),
        ('{"queries": ["a\\ud800b"]}', None),
    ],
)
def test_rewrites_are_read_from_what_surrounds_them(reply: str, rewrites: list[str] | None) -> None:
    read = rewrites_in(reply, ["tides"])
    if rewrites is None:
        "".join(read).encode()  # can be stored and sent
    else:
        assert read == rewrites


def test_there_are_few_and_short_ones() -> None:
    long = ", ".join(f'"{letter * 1_000}"' for letter in "abcdef")
    read = rewrites_in(f"[{long}]", ["tides"])
    assert [len(one) for one in read] == [MAX_QUERY_CHARACTERS] * MAX_REWRITES
