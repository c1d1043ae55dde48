"""Calls functions after the commit of a transaction, whose success then does not depend on them."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import ParamSpec

from django.db import transaction

Parameters = ParamSpec("Parameters")


def call_after_commit(
    function: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> None:
    """Call function(*args) once the transaction is committed. Django logs a failure; the caller is not told."""
    call = partial(function, *args, **kwargs)
    # Django logs the name of the function, which a partial does not have by itself.
    update_wrapper(call, function)
    transaction.on_commit(call, robust=True)
