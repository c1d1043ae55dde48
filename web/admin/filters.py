"""List filters whose choices come from small tables or code, not from the distinct values of a table of millions."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ModelConfig
from chat.presenters.tools import tool_cards
from chat.protocol.errors import RUN_ERRORS


class _ChoiceFilter(admin.SimpleListFilter):
    """A filter by one of values(). field: the lookup that must equal the chosen value."""

    field: str

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(**{self.field: self.value()}) if self.value() else None

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [(value, value) for value in self.values()]

    def values(self) -> Iterable[str]:
        raise NotImplementedError


class ModelFilter(_ChoiceFilter):
    title, parameter_name, field = _("model"), "model", "model"

    def values(self) -> Iterable[str]:
        return ModelConfig.objects.order_by("name").values_list("name", flat=True)


class RunModelFilter(ModelFilter):
    field = "run__model"


class ErrorCodeFilter(_ChoiceFilter):
    title, parameter_name, field = _("error code"), "error_code", "error_code"

    def values(self) -> Iterable[str]:
        return sorted(RUN_ERRORS)


class ToolFilter(_ChoiceFilter):
    title, parameter_name, field = _("tool"), "name", "name"

    def values(self) -> Iterable[str]:
        return sorted(tool_cards())


class TrashFilter(admin.SimpleListFilter):
    title, parameter_name = _("trash"), "trash"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("in the trash")), ("no", _("not in the trash"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.value() not in ("yes", "no"):
            return None
        return queryset.filter(deleted_at__isnull=self.value() == "no")


class TakenOverFilter(admin.SimpleListFilter):
    title, parameter_name = _("taken over"), "taken_over"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("from a dead worker"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(failures__gt=0) if self.value() else None
