"""Rows as long as their limits allow, in every list of a user, of each as many as a page may have."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.utils import timezone

from chat.models import Agent, ChatMessage, McpServer, Run, Session
from chat.models.mcp_server import McpStatus
from chat.transcript import answer_settings
from chat.turns.approvals import MAX_ARGUMENTS_CHARACTERS
from features.knowledge_bases.api import MAX_SUMMARY_CHARACTERS
from features.mcp.client.listing import MAX_SCHEMAS
from features.prompts.api import MAX_TEXT_CHARACTERS
from features.prompts.models import SavedPrompt
from knowledge.models import KnowledgeBase, Project
from tests import factories
from web.rest.pagination import MAX_LISTED

# A character that is stored as one byte, and sent as six.
LONG: Final = "\x01"
PROMPT: Final = LONG * answer_settings.MAX_PROMPT_CHARACTERS
REMINDER: Final = LONG * answer_settings.MAX_REMINDER_CHARACTERS
# Of a branch, which has no limit but that of all that is stored.
LONG_MESSAGES: Final = 300
# Of a server that lists as much as is stored of it; of the servers that staff may enter, a few.
SERVERS: Final = 5
TOOLS: Final = 500
_DESCRIPTION: Final = LONG * (MAX_SCHEMAS // TOOLS)


def store(ids: Mapping[str, str], rows: int = MAX_LISTED) -> None:
    """ids: of the session whose messages become long, and of the run whose calls wait for approval."""
    session = Session.objects.get(pk=ids["session"])
    user = session.owner
    numbers = range(rows)
    SavedPrompt.objects.bulk_create(
        SavedPrompt(owner=user, name="long", text=LONG * MAX_TEXT_CHARACTERS) for _ in numbers
    )
    Agent.objects.bulk_create(
        Agent(owner=user, name="long", prompt=PROMPT, reminder=REMINDER) for _ in numbers
    )
    Project.objects.bulk_create(Project(owner=user, name="long", instructions=PROMPT) for _ in numbers)
    for _ in numbers:
        KnowledgeBase.objects.start(user, name="long", summary=LONG * MAX_SUMMARY_CHARACTERS)
    now = timezone.now()
    for trashed in ({}, {"deleted_at": now, "purge_at": now + timedelta(days=1)}):
        for _ in numbers:
            Session.objects.start(user, title="long", prompt=PROMPT, reminder=REMINDER, **trashed)
    long = session.messages.exclude(role="root").order_by("-sent_at").values("pk")[:LONG_MESSAGES]
    ChatMessage.objects.filter(pk__in=list(long.values_list("pk", flat=True))).update(text=PROMPT)
    _store_approvals(Run.objects.get(pk=ids["asking_run"]), rows)
    _store_servers(min(rows, SERVERS))


def _store_approvals(run: Run, rows: int) -> None:
    arguments = {"a": LONG * (MAX_ARGUMENTS_CHARACTERS // 6)}  # escaped in their column, too
    for number in range(rows):
        factories.create_waiting_call(run, {}, arguments, tab=number + 2)


def _store_servers(rows: int) -> None:
    for number in range(rows):
        tools = [
            {"name": f"s{number}__t{n}", "tool": f"t{n}", "description": _DESCRIPTION, "read_only": True, "parameters": {}}
            for n in range(TOOLS)
        ]  # fmt: skip
        McpServer.objects.create(
            name=f"s{number}", transport="http", url="https://mcp.example.com/", status=McpStatus.READY,
            tools=tools,
        )  # fmt: skip
