"""The admin of run setups: prompts and tools of an attempt by version, and their differences from the current ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Agent, PromptVersion, Run, RunSetup
from chat.prompts.definition import base_prompt, define_prompts
from web.admin.read_only import ReadOnlyAdmin

# Filters the list of runs by a version (RunAdmin.lookup_allowed).
VERSION_LOOKUP: Final = "setups__version"
# The parts of a version that can be edited (chat/prompts/definition.py), and those that the worker composes from it.
EDITED: Final = {
    "base_prompt": _("base prompt"), "prompt": _("prompt"), "replaces_system_prompt": _("replaces system prompt"),
    "reminder": _("reminder"), "context_layout": _("context layout"), "tools": _("tools"),
}  # fmt: skip
COMPOSED: Final = {
    "system": _("system prompt as composed"),
    "citations": _("section on citations"),
    "tool_schemas": _("tools as offered to the model"),
}


@dataclass(frozen=True)
class Difference:
    """A part of the prompts that has changed since the run. then, now: as texts."""

    name: str
    then: str
    now: str


@admin.register(PromptVersion)
class PromptVersionAdmin(ReadOnlyAdmin[PromptVersion]):
    """The admin of prompt versions, which shows the content part by part in a section above the columns."""

    list_display = ("short", "beginning", "answered_runs", "created_at")
    list_filter = ("created_at",)
    search_fields = ("digest__startswith",)

    def get_readonly_fields(self, request: HttpRequest, obj: PromptVersion | None = None) -> list[str]:  # noqa: ARG002
        return ["digest", "created_at", "unused_since", "answered_runs"]

    def page_context(self, request: HttpRequest, row: PromptVersion) -> dict[str, Any]:
        parts = [(label, _as_text(row.content.get(name))) for name, label in (COMPOSED | EDITED).items()]
        return super().page_context(request, row) | {"parts": parts}

    @admin.display(description=_("prompt"))
    def beginning(self, version: PromptVersion) -> str:
        return str(version.content.get("prompt") or version.content.get("system", ""))[:80]

    @admin.display(description=_("runs"))
    def answered_runs(self, version: PromptVersion) -> SafeString:
        """Return a link to the version's runs. Their number is left out: counting takes a query for each version."""
        url = reverse("admin:chat_run_changelist")
        return format_html('<a href="{}?{}={}">{}</a>', url, VERSION_LOOKUP, version.digest, _("runs"))


def list_setups(run: Run) -> Sequence[RunSetup]:
    """Return the recorded setup of each attempt that has one, oldest first."""
    return list(run.setups.select_related("version").order_by("attempt"))


def list_differences(run: Run, setup: RunSetup) -> list[Difference] | None:
    """Return the changes of the recorded prompts since then; None if the agent is deleted. run: with its session."""
    now = _define_now(run, setup)
    if now is None:
        return None
    then = setup.version.content
    return [
        Difference(str(label), _as_text(then.get(name)), _as_text(now[name]))
        for name, label in EDITED.items()
        if then.get(name) != now[name]
    ]


def _define_now(run: Run, setup: RunSetup) -> dict[str, Any] | None:
    """Return the current prompts of the agent in the same session; None if the agent is deleted."""
    agent = Agent.objects.filter(pk=setup.agent).first() if setup.agent else None
    if setup.agent and agent is None:
        return None
    session = run.turn.session
    session.agent = agent  # for own_prompt(); not saved
    return define_prompts(agent, session.own_prompt(), base_prompt())


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
