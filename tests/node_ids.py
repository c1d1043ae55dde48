"""Node ids are unique: of several tests with one id, xdist runs one and reports success."""

import dataclasses
from collections import Counter

import pytest


def make_unique(items: list[pytest.Item]) -> None:
    """Complete the ids of generated tests.

    Schemathesis names its tests by their operation; since version 9.2, pytest derives ids from the function's name and
    the parameters of pytest's own kind.
    """
    for item in items:
        operation = getattr(item, "operation_label", None)
        if operation is not None:
            item._id = dataclasses.replace(item._id, params=operation)
    repeated = [node_id for node_id, count in Counter(item.nodeid for item in items).items() if count > 1]
    if repeated:
        raise pytest.UsageError(f"tests with the same id, of which xdist would run one: {repeated}")
