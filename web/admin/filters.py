"""Filters of the admin's lists whose choices are known without asking a table of millions for its distinct values."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ModelConfig
from chat.protocol.tasks import TOOL_NAMES
from chat.protocol.wire import RUN_ERRORS


class _OneOf(admin.SimpleListFilter):
    """field: what must have the chosen value."""

    field: str

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(**{self.field: self.value()}) if self.value() else None

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [(value, value) for value in self.values()]

    def values(self) -> Iterable[str]:
        raise NotImplementedError


class ByModel(_OneOf):
    title, parameter_name, field = _("model"), "model", "model"

    def values(self) -> Iterable[str]:
        return ModelConfig.objects.order_by("name").values_list("name", flat=True)


class ByModelOfRun(ByModel):
    field = "run__model"


class ByError(_OneOf):
    title, parameter_name, field = _("error code"), "error_code", "error_code"

    def values(self) -> Iterable[str]:
        return sorted(RUN_ERRORS)


class ByTool(_OneOf):
    title, parameter_name, field = _("tool"), "name", "name"

    def values(self) -> Iterable[str]:
        return sorted(TOOL_NAMES)


class TakenOver(admin.SimpleListFilter):
    title, parameter_name = _("taken over"), "taken_over"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("from a dead worker"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(failures__gt=0) if self.value() else None
