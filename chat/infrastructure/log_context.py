"""The ids that every log record of the current work carries: run, attempt, cycle, model, request_id and others.

Held in a context variable, so that tasks and, through in_context(), threads inherit them. Bound once per request, run,
attempt or inference, never per token. config/log_format.py writes them.
"""

import contextvars
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MAX_REQUEST_ID_CHARACTERS: Final = 64
# Safe in headers, log lines and addresses.
_ACCEPTED: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_fields: contextvars.ContextVar[Mapping[str, str | int]] = contextvars.ContextVar(
    "log_fields", default=MappingProxyType({})
)


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Add these fields, as integers or text, to the log records of the block and of the tasks it starts.
    None or "" removes a field."""
    merged = dict(_fields.get())
    for name, value in fields.items():
        if value in (None, ""):
            merged.pop(name, None)
        else:
            merged[name] = value if isinstance(value, int) else str(value)
    token = _fields.set(merged)
    try:
        yield
    finally:
        _fields.reset(token)


def add_api_token(token: uuid.UUID) -> None:
    """Add the id of the API token that authenticates the current work, until the block of bound() around it ends."""
    _fields.set({**_fields.get(), "api_token": str(token)})


def current_api_token() -> uuid.UUID | None:
    """Return the id of the API token that authenticates the current work; None if none does."""
    token = _fields.get().get("api_token")
    return uuid.UUID(str(token)) if token else None


def current() -> Mapping[str, str | int]:
    return _fields.get()


def current_request_id() -> str:
    """Return the id of the request that caused the current work; empty if no request did."""
    return str(_fields.get().get("request_id", ""))


def accept_request_id(sent: object) -> str:
    """Return the id that a client sent if it is acceptable, else a new id."""
    return sent if isinstance(sent, str) and _ACCEPTED.fullmatch(sent) else uuid.uuid4().hex


def in_context(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Wrap a function so that it runs with the caller's fields in another thread."""
    context = contextvars.copy_context()

    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return context.run(function, *args, **kwargs)

    return call
