"""The admin of saved prompts: their owners and dates. Only the owners may read the texts."""

from django.contrib import admin

from features.prompts.models import SavedPrompt


@admin.register(SavedPrompt)
class SavedPromptAdmin(admin.ModelAdmin[SavedPrompt]):
    fields = ("id", "owner", "name", "created_at", "updated_at")
    readonly_fields = fields
    list_display = ("name", "owner", "updated_at")
    list_select_related = ("owner",)
    search_fields = ("id", "name", "owner__username")

    def has_add_permission(self, *args: object) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, *args: object) -> bool:  # noqa: ARG002
        return False
