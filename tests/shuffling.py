"""`pytest --shuffle SEED`: the files in another order, and the tests of each file, which the same seed repeats.

A test that needs what an earlier one left behind, or that minds it, fails in some order. CI may give its processes any.
"""

import random
from itertools import groupby

import pytest


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run files and their tests in this order")


def shuffle(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is None:
        return
    chance = random.Random(seed)
    files = [list(of_file) for _, of_file in groupby(items, key=lambda item: item.path)]
    chance.shuffle(files)
    for of_file in files:
        chance.shuffle(of_file)
    items[:] = [item for of_file in files for item in of_file]
