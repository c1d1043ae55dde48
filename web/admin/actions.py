"""Actions of the admin on rows: each result is logged in English and displayed in the user's language, and the page of a row has its list's actions."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import translation
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from web.admin.read_only import ReadOnlyAdmin

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


class ObjectActionsAdmin(ReadOnlyAdmin[M]):
    """An admin with actions on a row's page. Only permitted actions have buttons.
    object_actions: the part of `actions` that applies to a single row.
    """

    object_actions: Sequence[str] = ()

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.act)
        return [path("<path:object_id>/act/<str:action>/", view, name=self._url_name), *super().get_urls()]

    def page_context(self, request: HttpRequest, row: M) -> dict[str, Any]:
        allowed: dict[str, Any] = self.get_actions(request)
        buttons = [
            {"label": allowed[name][2], "url": self._url_of(row, name)}
            for name in self.object_actions
            if name in allowed and self.takes_actions(row)
        ]
        return super().page_context(request, row) | {"object_actions": buttons}

    def takes_actions(self, row: M) -> bool:  # noqa: ARG002  for those whose rows come to an end
        return True

    @method_decorator(require_POST)
    def act(self, request: HttpRequest, object_id: str, action: str) -> HttpResponse:
        """Execute the action; return its response, or else redirect to the row's page."""
        row = self.get_object(request, object_id)
        if row is None or action not in self.object_actions:
            raise Http404
        entry: Any = self.get_actions(request).get(action)
        if entry is None or not self.has_view_permission(request, row):
            raise PermissionDenied
        chosen = self.get_queryset(request).filter(pk=row.pk)
        response: HttpResponse | None = entry[0](self, request, chosen)
        return response or HttpResponseRedirect(reverse(f"admin:{self._prefix}_change", args=[row.pk]))

    @property
    def _prefix(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}"

    @property
    def _url_name(self) -> str:
        return f"{self._prefix}_act"

    def _url_of(self, row: M, action: str) -> str:
        return reverse(f"admin:{self._url_name}", args=[row.pk, action])
