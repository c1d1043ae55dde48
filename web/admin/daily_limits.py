"""The admin of daily limits: the default ones and those of groups, the use by user and day, and a user's use today."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from chat.models import DailyUse, DefaultLimits, GroupLimits
from chat.models.daily_use import DailyAccount
from chat.protocol.limit_use import LimitUse
from web.admin.read_only import ReadOnlyAdmin

admin.site.unregister(Group)


class GroupLimitsInline(admin.StackedInline[GroupLimits, Group]):
    model = GroupLimits


@admin.register(Group)
class LimitingGroupAdmin(GroupAdmin):
    inlines = (GroupLimitsInline,)


@admin.register(DefaultLimits)
class DefaultLimitsAdmin(admin.ModelAdmin[DefaultLimits]):
    """At most one row. Deleting it removes the limits."""

    list_display = ("__str__", "runs_per_day", "tokens_per_day", "cost_per_day")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not DefaultLimits.objects.exists()


@admin.register(DailyUse)
class DailyUseAdmin(ReadOnlyAdmin[DailyUse]):
    list_display = ("day", "user", "runs", "tokens", "cost", "is_estimated")
    list_filter = ("day",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    date_hierarchy = "day"


def limits_of_today(user: User) -> str:
    """Return, for each limit, the used and the allowed amount as text."""
    account = DailyAccount.read(user.pk)
    return "; ".join(map(_words, account or ()))


def _words(use: LimitUse) -> str:
    names: dict[str, Any] = {"runs": _("runs"), "tokens": _("tokens"), "cost": _("cost")}
    used = number_format(use.used, use_l10n=True, force_grouping=True)
    if use.is_estimated:
        used = _("%(number)s (partly estimated)") % {"number": used}
    if use.max is None:
        return _("%(unit)s: %(used)s, no limit") % {"unit": names[use.unit], "used": used}
    most = number_format(use.max, use_l10n=True, force_grouping=True)
    return _("%(unit)s: %(used)s of %(most)s") % {"unit": names[use.unit], "used": used, "most": most}
