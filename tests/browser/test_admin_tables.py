"""Every list of the admin and the page of one row of each table: readable by everybody, in both themes, and not cut."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import admin_scene
from tests.browser.accessible import violations
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1440, "height": 900}
# How much wider than its container the table of a list is, and than the window the page.
CUT_PX = """() => Math.max(document.documentElement.scrollWidth - innerWidth,
    ...[...document.querySelectorAll(".results")].map((one) => one.scrollWidth - one.clientWidth))"""
# Adds a row to each table that the scene leaves empty, and prints the addresses of all lists, of a row of each table,
# and of the other pages of Django.
ADDRESSES = """
from django.contrib import admin
from django.contrib.auth.models import Group
from django.utils import timezone
from chat.models import Approval, ToolCall, ToolPolicy
from chat.models import (ChatMessage, Compression, DefaultLimits, Feedback, Invitation, McpServer, Provider, Run, Share, SideRequest, Suggestion, SystemPrompt)
from features.prompts.models import SavedPrompt
from features.webhooks.models import Webhook
from chat.transcript.tools import AskedTool
from knowledge.models import KnowledgeBase, MembershipChange
from web.admin.read_only import admin_url
run = Run.objects.select_related("turn__session__owner", "turn__user_message", "message").filter(status="completed").first()
session, question = run.turn.session, run.turn.user_message
Group.objects.create(name="harbour")
DefaultLimits.objects.create()
Invitation.objects.create(digest="d" * 64, expires_at=timezone.now())
Share.objects.create(session=session, leaf=run.message)
SideRequest.objects.create(purpose="title", session=session, run=run, model=run.model, sent_at=timezone.now())
SystemPrompt.edit("Be brief.")
McpServer.objects.create(name="quay", transport="http", url="https://mcp.example.com/mcp")
Suggestion.objects.create(text="Why two tides a day?")
Provider.objects.create(name="Quay", base_url="https://api.example.com/v1")
ToolPolicy.objects.create(name="act", approval="ask")
Approval.for_call(ToolCall.objects.order_by("created_at").last(), session, AskedTool({})).save()
SavedPrompt.objects.create(owner=session.owner, name="Tides", text="Name the Moon.")
Webhook.objects.create(owner=session.owner, url="https://hooks.example.com/turnwire", encrypted_secret="x")
Feedback.objects.create(message=run.message, is_positive=True, text="Clear.")
KnowledgeBase.objects.start(session.owner, name="Harbour", summary="Depths.")
MembershipChange.objects.create(knowledge_base=session.pk, name="Harbour", actor="alice", user="bob", after="reader")
Compression.objects.create(
    session=session, parent=question, leaf=run.message, model=run.model, triggered_by="auto", status="failed",
    error_code="context_too_small", ended_at=timezone.now(),
)
for model in admin.site._registry:
    row = model._base_manager.order_by("pk").last()
    assert row is not None, f"{model.__name__}: add a row"
    print(model._meta.label_lower.replace(".", "/") + "/", admin_url(row).removeprefix("/admin/"))
print("chat/", "usage/", "workers/", f"chat/run/{run.pk}/change/", f"chat/agent/add/", "lookup/?q=nothing")
"""


@pytest.fixture(scope="module")
def addresses(running_stack: Stack, lasting: None) -> Iterator[list[str]]:
    running_stack.upstream.reset()
    admin_scene.play(running_stack)
    yield running_stack.manage("shell", "-v", "0", "-c", ADDRESSES).split()
    # Later tests expect that of the code.
    running_stack.manage(
        "shell",
        "-c",
        "from chat.models import DefaultLimits, SystemPrompt; "
        "SystemPrompt.objects.all().delete(); DefaultLimits.objects.all().delete()",
    )


@pytest.fixture
def tester(browser: Browser, stack: Stack, addresses: list[str]) -> Iterator[Reader]:
    """Runs axe; its own inline styles are blocked by the content security policy."""
    with admin_scene.staff(browser, stack) as reader:
        yield reader


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_table_can_be_read_by_everybody(
    tester: Reader, stack: Stack, addresses: list[str], theme: str
) -> None:
    """The theme is chosen with the admin's own switch: its setting is not that of the device."""
    page, found = tester.page, {}
    page.evaluate("theme => localStorage.setItem('theme', theme)", theme)
    for address in ("", *addresses):
        admin_scene.visit(page, stack, address)
        found[address] = violations(page)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_every_table_fits_a_screen_of_1440_px(tester: Reader, stack: Stack, addresses: list[str]) -> None:
    page, cut = tester.page, {}
    page.set_viewport_size(LAPTOP)
    for address in addresses:
        admin_scene.visit(page, stack, address)
        cut[address] = page.evaluate(CUT_PX)
    assert {address: pixels for address, pixels in cut.items() if pixels > 0} == {}
