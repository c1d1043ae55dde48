"""The part of the admin's start page above the list of tables: first steps, the state of the installation, and the failures
of the last day."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from redis.exceptions import RedisError

from chat.metrics import presence
from chat.models import Invitation, McpServer, ModelConfig, Run
from chat.models.mcp_server import McpStatus
from chat.models.tool_call import ToolCallStatus
from chat.protocol.states import LIVE, Status
from knowledge.models import KnowledgeBase
from web.admin.run_findings import words_of
from web.admin.run_links import counted_runs_url
from web.admin.tool_calls import load_tool_rows

PERIOD: Final = timedelta(hours=24)


class Step(NamedTuple):
    """A first step. permission: only users who have it see the step; empty for everybody."""

    name: Any
    about: Any
    url: str
    permission: str
    is_done: bool


class Figure(NamedTuple):
    label: Any
    value: int | None
    url: str


def first_steps(user: Any) -> Sequence[Step]:
    """Return the steps of setting up a new installation that the user may do; empty once all of them are done."""
    invites = settings.REGISTRATION == "invitation"
    steps = (
        Step(
            _("Connect a model"),
            _("Address and key of a server; its models are listed and tested on the page."),
            "/?connect",
            "chat.add_provider",
            ModelConfig.objects.usable().filter(is_demo=False).exists(),
        ),
        Step(
            _("Invite people"),
            _("A link with which they register.")
            if invites
            else _("An account for each; they change its password."),
            reverse("admin:chat_invitation_add") if invites else reverse("admin:auth_user_add"),
            "chat.add_invitation" if invites else "auth.add_user",
            User.objects.count() > 1 or Invitation.objects.exists(),
        ),
        Step(
            _("Make a knowledge base"),
            _("Documents that answers cite, for those whom you let read them."),
            "/#knowledge",
            "",
            KnowledgeBase.objects.exists(),
        ),
    )
    own = [step for step in steps if not step.permission or user.has_perm(step.permission)]
    return [] if all(step.is_done for step in own) else own


def current_state() -> Sequence[Figure]:
    """Return the numbers of processes, models and answers, each with the page that shows more."""
    workers, since = reverse("admin:workers"), timezone.now() - PERIOD
    # Plan: run_live, run_by_end.
    live = Run.objects.order_by().filter(status__in=LIVE)
    counts = live.aggregate(
        waiting=Count("pk", filter=Q(status=Status.QUEUED)),
        written=Count("pk", filter=~Q(status=Status.QUEUED)),
    )
    ended = Run.objects.filter(ended_at__gte=since, is_imported=False)
    return [
        Figure(_("Processes"), _count_processes(), workers),
        Figure(
            _("Models that people may ask"),
            ModelConfig.objects.usable().count(),
            reverse("admin:chat_modelconfig_changelist"),
        ),
        Figure(_("Answers being written"), counts["written"], workers),
        Figure(_("Answers that wait"), counts["waiting"], workers),
        Figure(_("Answers of the last 24 hours"), ended.count(), counted_runs_url(since)),
    ]


def _count_processes() -> int | None:
    """Return the number of live processes; None if Redis does not respond."""
    try:
        return len(presence.live_processes())
    except RedisError:
        return None


class FailureCount(NamedTuple):
    """The number of failed runs with an error code. url: the list of these runs."""

    code: str
    runs: int
    url: str

    @property
    def words(self) -> str:
        return words_of(self.code)


def count_recent_failures() -> Sequence[FailureCount]:
    """Return the error codes of runs that failed within PERIOD, most frequent first."""
    since = timezone.now() - PERIOD
    # Imported runs were not executed by this installation. Plan: run_by_end.
    failed = Run.objects.filter(ended_at__gte=since, is_imported=False).exclude(error_code="")
    counts = (
        failed.order_by().values_list("error_code").annotate(runs=Count("pk")).order_by("-runs", "error_code")
    )
    return [FailureCount(code, number, counted_runs_url(since, error_code=code)) for code, number in counts]


class FailingTool(NamedTuple):
    """A tool of which calls failed within PERIOD. url: the list of these calls; empty if the user may not see them."""

    name: str
    failed: int
    calls: int
    url: str


def list_failing_tools(user: Any) -> Sequence[FailingTool]:
    """Return the tools with the most failed calls first."""
    since = timezone.now() - PERIOD
    calls = reverse("admin:chat_toolcall_changelist") if user.has_perm("chat.view_toolcall") else ""
    filters = {"status__exact": ToolCallStatus.FAILED.value, "created_at__gte": since.isoformat()}
    failing = [row for row in load_tool_rows(since) if row.failed]
    return [
        FailingTool(
            row.name, row.failed, row.calls, calls and f"{calls}?{urlencode({**filters, 'name': row.name})}"
        )
        for row in sorted(failing, key=lambda row: -row.failed)
    ]


def list_servers_down(user: Any) -> Sequence[McpServer]:
    """Return the enabled MCP servers that did not list their tools, as far as the user may see them."""
    if not user.has_perm("chat.view_mcpserver"):
        return []
    return list(McpServer.objects.filter(is_enabled=True, status=McpStatus.DOWN).only("name", "problem"))
