"""Staff set the limits of groups, and read what a user has used."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from chat.models import DailyUse, DefaultLimits, GroupLimits
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Any:
    client = factories.staff_client()
    user = factories.create_user("root", is_staff=True, is_superuser=True)
    client.force_login(user)
    return client


def test_the_limits_of_a_group_are_set_on_its_page(staff: Any) -> None:
    group = Group.objects.create(name="Students")
    form = {
        "name": "Students", "limits-TOTAL_FORMS": 1, "limits-INITIAL_FORMS": 0, "limits-0-group": group.pk,
        "limits-0-runs_per_day": 20, "limits-0-cost_per_day": "1.50",
    }  # fmt: skip
    answer = staff.post(reverse("admin:auth_group_change", args=[group.pk]), form)
    assert answer.status_code == 302, answer.content
    limits = GroupLimits.objects.get(group=group)
    assert (limits.runs_per_day, limits.tokens_per_day, float(limits.cost_per_day or 0)) == (20, None, 1.5)


def test_a_negative_limit_is_refused(staff: Any) -> None:
    group = Group.objects.create(name="Students")
    form = {"name": "S", "limits-TOTAL_FORMS": 1, "limits-INITIAL_FORMS": 0, "limits-0-runs_per_day": -1}
    assert staff.post(reverse("admin:auth_group_change", args=[group.pk]), form).status_code == 200
    assert not GroupLimits.objects.exists()


def test_default_limits_are_one_row(staff: Any) -> None:
    add = reverse("admin:chat_defaultlimits_add")
    assert staff.post(add, {"runs_per_day": 20, "cost_per_day": "1.50"}).status_code == 302
    limits = DefaultLimits.objects.get()
    assert (limits.runs_per_day, limits.tokens_per_day, limits.cost_per_day) == (20, None, Decimal("1.5"))
    assert staff.get(add).status_code == 403


def test_the_page_of_a_user_and_the_list_of_days_say_what_was_used(staff: Any) -> None:
    factories.set_default_limits(runs_per_day=20)
    alice = factories.create_user("alice")
    DailyUse.objects.create(user=alice, day=datetime.now(UTC).date(), runs=7, tokens=12345)
    page = staff.get(reverse("admin:auth_user_change", args=[alice.pk])).content.decode()
    assert "runs: 7 of 20; tokens: 12,345, no limit" in page
    days = staff.get(reverse("admin:chat_dailyuse_changelist"), {"q": "alice"}).content.decode()
    assert "12345" in days or "12,345" in days
