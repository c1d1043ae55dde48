"""Runs of an admin action on rows: each result is logged in English and displayed in the user's language."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils import translation

M = TypeVar("M", bound=models.Model)
# Performs the action on a row and returns its result as a lazy text, so that it can be displayed in two languages.
RowAction = Callable[[M], object]


def apply_and_log(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    rows: Iterable[M],
    name: object,
    act: RowAction[M],
) -> None:
    """Apply `act` to every row, and log and display the results. name: the action's name, a lazy text."""
    for row in rows:
        result = act(row)
        with translation.override("en"):
            model_admin.log_change(request, row, f"{name}: {result}")
        title = getattr(row, "title", "") or row.pk
        model_admin.message_user(request, f"{name} {title}: {result}", messages.INFO)
