"""Base classes and helpers of admin pages that display rows without changing them, and show every character of texts.

Texts of models and tools are shown so that no character is hidden or turns the direction of what follows. The page does
the same (web/static/chat/elements/visible_text.js), and knows more of scripts.
"""

import json
import unicodedata
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Final, TypeVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import connection, models
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from msgspec import Struct

from knowledge.models.struct_field import StructField

# Letters that are not seen, and variants, in which texts can be hidden: Unicode's Default_Ignorable_Code_Point beside Cf.
_IGNORED: Final = frozenset(
    {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}.union(
        range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xFFF0, 0xFFFC), range(0xE0100, 0xE01F0)
    )
)
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# After these a joiner or a variant is a part of an emoji, or of a letter of a script that needs it.
_JOINED: Final = frozenset({"So", "Sk", "Lo", "Mn", "Mc"})
_JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"


def visible_text(text: str) -> str:
    """Return the text with escapes, as JSON reads them, for characters that are not seen or turn the direction."""
    return "".join(
        letter if _is_seen(letter, text[at - 1 : at]) else json.dumps(letter)[1:-1]
        for at, letter in enumerate(text)
    )


def visible_column(model: type[Model], name: str) -> Callable[[Any], SafeString | str]:
    """Return a column of the admin that shows this text or JSON field visibly."""
    label: Any = model._meta.get_field(name).verbose_name  # type: ignore[union-attr]  # noqa: SLF001  Django's documented model API

    @admin.display(description=_(label))
    def shown(row: Any) -> SafeString | str:
        value = getattr(row, name)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return format_html("<bdi>{}</bdi>", visible_text(text)) if value else "-"

    shown.__name__ = name
    return shown


def _is_seen(letter: str, before: str) -> bool:
    if letter in "\n\t":
        return True
    if letter in _JOINERS:
        return bool(before) and not before.isascii() and unicodedata.category(before) in _JOINED
    return unicodedata.category(letter) not in _HIDDEN and ord(letter) not in _IGNORED


M = TypeVar("M", bound=models.Model)
# The maximum number of rows that is counted; larger results show this number.
MAX_COUNTED: Final = 10_000
# The planner's estimate is used above this number: below, counting is fast, and the table may never have been analysed.
MIN_ESTIMATE: Final = 50_000


def link(label: object, row: models.Model | None) -> SafeString | str:
    """Return a link to the admin page of `row`; a dash for None."""
    if row is None:
        return "-"
    return format_html('<a href="{}">{}</a>', admin_url(row), label)


def admin_url(row: models.Model) -> str:
    """Return the URL of the row's admin page."""
    meta = row._meta  # noqa: SLF001  Django's documented model API
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])


def or_dash(value: object) -> object:
    """Return the value; a dash for None."""
    return "-" if value is None else value


class EstimatingPaginator(Paginator[Any]):
    """A paginator that uses the planner's estimate for a whole large table.

    Otherwise it counts up to MAX_COUNTED rows; pages after them are reachable only by narrowing the search.
    """

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        if not rows.query.where and not rows.query.is_sliced:
            estimate = _estimate_rows(rows.model._meta.db_table)  # noqa: SLF001  Django's documented model API
            if estimate > MIN_ESTIMATE:
                return estimate
        return int(rows.order_by()[:MAX_COUNTED].count())


def _estimate_rows(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(%s)", [table])
        row = cursor.fetchone()
    return row[0] if row else 0


class ReadOnlyMixin:
    """A mixin that denies adding, changing and deleting rows."""

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:  # noqa: ARG002
        return False


class ReadOnlyAdmin(ReadOnlyMixin, admin.ModelAdmin[M]):
    """An admin that shows every column, including those that Django leaves out of forms (ids, automatic times)."""

    show_full_result_count = False
    paginator = EstimatingPaginator

    @admin.display(description=_("ID"), ordering="pk")
    def short_id(self, row: M) -> str:
        """Return the beginning of the id, for lists. A search needs the whole id, which the row's page shows."""
        return str(row.pk)[:8]

    def page_context(self, request: HttpRequest, row: M) -> dict[str, Any]:  # noqa: ARG002
        """Return the additional template context of one row's page."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            context |= self.page_context(request, row)
        return super().render_change_form(request, context, *args, **kwargs)

    def get_fields(self, request: HttpRequest, obj: M | None = None) -> list[Any]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> list[Any]:  # noqa: ARG002
        columns: list[Any] = []
        for field in self.model._meta.fields:  # noqa: SLF001  Django's documented model API
            if isinstance(field, StructField):
                columns += _member_columns(field.name, field.struct)
            else:
                columns.append(field.name)
        return columns


@cache
def _member_columns(field: str, struct: type[Struct]) -> list[Callable[[models.Model], object]]:
    """Return the columns that show the members of a StructField."""
    return [_member_column(field, name) for name in struct.__struct_fields__]


def _member_column(field: str, name: str) -> Callable[[models.Model], object]:
    def display(row: models.Model) -> object:
        value = getattr(getattr(row, field), name)
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, dict) and value:
            value = json.dumps(value)
        return or_dash(None if value in ("", {}) else value)

    display.__name__ = name
    return admin.display(description=_(name.replace("_", " ")))(display)


class ReadOnlyInline(ReadOnlyMixin, admin.TabularInline[Any, Any]):
    """A table of related rows with links to their pages, without the empty headers of Django's editing columns."""

    template = "admin/chat/read_only_inline.html"
    extra = 0
    can_delete = False
    show_change_link = True
