"""The part of the admin's start page above the list of tables: first steps, and the state of the installation."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from redis.exceptions import RedisError

from chat.metrics import presence
from chat.models import Invitation, ModelConfig, Run
from chat.protocol.states import LIVE, Status
from knowledge.models import KnowledgeBase
from web.admin.recent_failures import PERIOD
from web.admin.run_links import counted_runs_url


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
