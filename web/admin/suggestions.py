"""The admin of suggestions, the questions that an empty page offers; they are ordered in the list."""

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
        """Give the inputs of the list an accessible name, since they have no labels."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in self.list_editable:
            field.widget.attrs["aria-label"] = capfirst(db_field.verbose_name)
        return field
