"""The admin of suggestions: what an empty page offers to ask, edited in the list."""

from django.contrib import admin

from chat.models import Suggestion


@admin.register(Suggestion)
class SuggestionAdmin(admin.ModelAdmin[Suggestion]):
    list_display = ("text", "position")
    list_editable = ("position",)
