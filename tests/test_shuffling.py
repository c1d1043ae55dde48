"""The order of `pytest --shuffle SEED`."""

from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.shuffling import shuffle

pytestmark = pytest.mark.pure

COLLECTED = [
    SimpleNamespace(path=Path(f"test_{file}.py"), number=number) for file in range(9) for number in range(9)
]


def shuffled(seed: int | None) -> list[Any]:
    items: list[Any] = list(COLLECTED)
    shuffle(SimpleNamespace(getoption=lambda _name: seed), items)  # type: ignore[arg-type]
    return items


def test_without_a_seed_the_order_stays() -> None:
    assert shuffled(None) == COLLECTED


def test_a_seed_is_one_order_of_the_files_and_of_the_tests_of_each() -> None:
    first, again, other = shuffled(1), shuffled(1), shuffled(2)
    assert first == again
    assert first not in (other, COLLECTED)
    assert sorted(one.path for one in first) == [one.path for one in COLLECTED]
    files = [list(of_file) for _, of_file in groupby(first, key=lambda one: one.path)]
    assert len(files) == 9, "the tests of a file stay together"
    assert any([one.number for one in of_file] != list(range(9)) for of_file in files)
