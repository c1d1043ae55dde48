"""What a request held is freed when it ends, not by a later collection: an answer may be as long as all that a user stores."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.test import RequestFactory

from tests.matrix import longest_rows
from tests.matrix.belongings import Belongings
from tests.matrix.operations import OWN, STAFF_WRITES, Operation, operations
from tests.matrix.subjects import with_token_of

READING = [one for one in operations() if one.is_safe and one.access in (OWN, STAFF_WRITES)]
# Shorter than any of the long texts.
LONG = 50_000


@pytest.fixture
def owned(world: tuple[Belongings, Belongings]) -> Belongings:
    longest_rows.store(world[0].ids, 2)
    return world[0]


@contextmanager
def only_counted() -> Iterator[list[Any]]:
    """Collect nothing, and at the end put what a collection would have freed into the list."""
    kept: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        yield kept
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kept += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def long_texts(objects: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """The types and lengths of long texts that the objects, or untracked containers in them, refer to."""
    for one in objects:
        for found in gc.get_referents(one):
            kind = type(found)  # isinstance() would evaluate lazy objects
            if kind in (str, bytes) and len(found) > LONG:
                yield type(one).__name__, len(found)
            elif kind in (dict, list, tuple) and not gc.is_tracked(found):
                yield from long_texts([found])


@pytest.mark.full
def test_no_long_text_of_an_answer_is_left_in_a_circle_of_references(owned: Belongings) -> None:
    handler = BaseHandler()
    handler.load_middleware()
    headers = with_token_of(owned.user).headers
    ask = RequestFactory(headers=headers)

    def length(operation: Operation) -> int:
        response = handler.get_response(ask.get(operation.address(owned.ids)))
        return len(getattr(response, "content", b"")) if response.status_code == 200 else 0

    lengths = {one.id: length(one) for one in READING}  # what each loads stays
    assert sum(found > LONG for found in lengths.values()) >= 8, lengths
    left = {}
    for one in READING:
        with only_counted() as kept:
            length(one)
        if texts := list(long_texts(kept)):
            left[one.id] = texts[:5]
        kept.clear()
    assert list(left.items()) == []
