"""The admin of feedback on answers, read-only."""

from django.contrib import admin

from chat.models import Feedback
from web.admin.read_only import ReadOnlyAdmin


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin[Feedback]):
    list_display = ("message", "is_positive", "text", "updated_at")
    list_filter = ("is_positive",)
    list_select_related = ("message",)
    search_fields = ("text", "message__session__owner__username")
