"""Calls functions after the commit of what they follow from, whose success no longer depends on them."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import ParamSpec

from django.db import transaction

Parameters = ParamSpec("Parameters")


def call_after_commit(
    function: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> None:
    """Call function(*args) once the transaction is committed. If it fails, Django logs that, and the caller is not told."""
    call = partial(function, *args, **kwargs)
    # Django's log record has the name of what it called, which a partial does not have by itself.
    update_wrapper(call, function)
    transaction.on_commit(call, robust=True)
