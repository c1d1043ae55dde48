"""Admin pages that show rows and change none."""

from typing import Any, TypeVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

M = TypeVar("M", bound=models.Model)


class ReadOnly:
    """No row is added, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class ToRead(ReadOnly, admin.ModelAdmin[M]):
    """Shows every column, those Django leaves out of forms (ids, times set by the row itself) as well."""

    show_full_result_count = False

    def get_fields(self, request: HttpRequest, obj: M | None = None) -> list[Any]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> list[str]:  # noqa: ARG002
        return [field.name for field in self.model._meta.fields]  # noqa: SLF001  Django's documented model API


class Rows(ReadOnly, admin.TabularInline[Any, Any]):
    extra = 0
    can_delete = False
    show_change_link = True
