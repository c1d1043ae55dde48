"""The admin of suggestions: what an empty page offers to ask, edited in the list."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Field
from django.http import HttpRequest
from django.utils.text import capfirst

from chat.models import Suggestion


@admin.register(Suggestion)
class SuggestionAdmin(admin.ModelAdmin[Suggestion]):
    list_display = ("text", "position")
    list_editable = ("position",)

    def formfield_for_dbfield(
        self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        """With a name of its own: in the list, the inputs have no labels."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in self.list_editable:
            field.widget.attrs["aria-label"] = capfirst(db_field.verbose_name)
        return field
