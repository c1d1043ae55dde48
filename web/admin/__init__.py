"""The admin's pages of chats: read-only pages with a few operations.
Django's autodiscovery imports this module.

No page writes conversations; settings that staff may edit (models, agents, system prompt) are ordinary forms.
"""

from django.apps import apps
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.models import CitedDocument, GroupLimits, MessageFile, PromptBlock
from web.admin import (
    compressions,
    conversations,
    model_requests,
    run_setups,
    runs,
    sessions,
    tool_calls,
    workers,
)
from web.admin.translations import translate_choices, translate_names

__all__ = [
    "compressions",
    "conversations",
    "model_requests",
    "run_setups",
    "runs",
    "sessions",
    "tool_calls",
    "workers",
]

apps.get_app_config("knowledge").verbose_name = _("Files, projects and knowledge bases")


def translate_tables() -> None:
    """Translate every table that has a page, and the tables that only appear inside another table's page.
    Features have pages of their own, so this waits until all apps have registered theirs.
    """
    for translate in (translate_names, translate_choices):
        translate(*admin.site._registry, CitedDocument, GroupLimits, MessageFile, PromptBlock)  # noqa: SLF001
