"""How much text an answer may hold in memory at once: pages of lists end early, and longer answers are sent in parts."""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Final

from django.db.models import BigIntegerField, Func, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce

# As they are stored: in JSON, texts may be six times as long. Far more than pages usually have.
PAGE_BYTES: Final = 1024 * 1024


def text_bytes(*columns: str) -> Combinable:
    """Return the expression for the bytes of these columns of a row: those that may be long. NULL has none."""
    octets = [
        Func(Cast(column, TextField()), function="octet_length", output_field=BigIntegerField())
        for column in columns
    ]
    return reduce(add, (Coalesce(length, 0) for length in octets))


def count_fitting(sizes: Iterable[int]) -> int:
    """Return how many rows of these sizes fit on a page: as many as have PAGE_BYTES together, at least one."""
    total, count = 0, 0
    for size in sizes:
        total += size
        if count and total > PAGE_BYTES:
            break
        count += 1
    return count
