"""Admin pages that show rows and change none."""

from typing import Any, TypeVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from web.admin.pagination import QuickPaginator

M = TypeVar("M", bound=models.Model)


def link(label: object, row: models.Model | None) -> SafeString | str:
    """A link to the admin page of `row`; a dash where there is none."""
    if row is None:
        return "-"
    return format_html('<a href="{}">{}</a>', page_of(row), label)


def page_of(row: models.Model) -> str:
    """The address of its page."""
    name = row._meta.model_name  # noqa: SLF001  Django's documented model API
    return reverse(f"admin:chat_{name}_change", args=[row.pk])


def dash(value: object) -> object:
    """What a page shows of a value that there may not be."""
    return "-" if value is None else value


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
    paginator = QuickPaginator

    @admin.display(description=_("ID"), ordering="pk")
    def short_id(self, row: M) -> str:
        """Its beginning, for lists; the search wants all of it, which the row's page has."""
        return str(row.pk)[:8]

    def told(self, request: HttpRequest, row: M) -> dict[str, Any]:  # noqa: ARG002
        """What the template of one row's page is given besides the row."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *shape: Any, **named: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            context |= self.told(request, row)
        return super().render_change_form(request, context, *shape, **named)

    def get_fields(self, request: HttpRequest, obj: M | None = None) -> list[Any]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> list[str]:  # noqa: ARG002
        return [field.name for field in self.model._meta.fields]  # noqa: SLF001  Django's documented model API


class Rows(ReadOnly, admin.TabularInline[Any, Any]):
    extra = 0
    can_delete = False
    show_change_link = True
