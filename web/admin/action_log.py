"""What an action of staff did to each row: noted in English in the row's history, told in the reader's language."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils import translation

M = TypeVar("M", bound=models.Model)
# Does it, and answers what came of it. A lazy text is in the language that is active when it is read.
Act = Callable[[M], object]


def do_each(
    to: admin.ModelAdmin[Any], request: HttpRequest, rows: Iterable[M], verb: object, act: Act[M]
) -> None:
    for row in rows:
        outcome = act(row)
        with translation.override("en"):
            to.log_change(request, row, f"{verb}: {outcome}")
        named = getattr(row, "title", "") or row.pk
        to.message_user(request, f"{verb} {named}: {outcome}", messages.INFO)
