"""Users are told on the page before they reach a daily limit, and until when when they have reached it."""

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

LIMIT = """
from django.contrib.auth.models import Group, User
from django.utils import timezone
from chat.models import DailyUse, GroupLimits
alice, given = User.objects.get(username="alice"), {given}
group, _ = Group.objects.get_or_create(name="limited")
GroupLimits.objects.update_or_create(group=group, defaults=given["limits"])
alice.groups.set([group])
DailyUse.objects.update_or_create(user=alice, day=timezone.now().date(), defaults=given["used"])
"""
UNLIMITED = "from django.contrib.auth.models import Group; Group.objects.filter(name='limited').delete()"
Limit = Callable[[dict[str, int], dict[str, int]], None]


@pytest.fixture
def limit(stack: Stack) -> Iterator[Limit]:
    """Sets alice's limits, and what she has used today."""

    def limit(limits: dict[str, int], used: dict[str, int]) -> None:
        given = json.dumps({"limits": limits, "used": used})
        stack.manage("shell", "-v", "0", "-c", LIMIT.replace("{given}", given))

    yield limit
    stack.manage("shell", "-v", "0", "-c", UNLIMITED)


def test_a_limit_is_shown_before_and_when_it_is_reached(reader: Reader, stack: Stack, limit: Limit) -> None:
    limit({"runs_per_day": 5}, {"runs": 3})
    reader.page.reload()
    reader.wait_until_ready()
    line = reader.page.locator("#limits")
    expect(line).to_be_hidden()
    reader.send("One")
    reader.expect_echo("One")
    expect(line).to_contain_text("You have used 80% of the answers of today.")
    assert violations_in_both_themes(reader.page) == []
    reader.send("Two")
    reader.expect_echo("Two", index=1)
    expect(line).to_have_text(re.compile(r"used what you may use today\. You can go on at \d"))
    reader.send("Three")
    notice = reader.page.locator("#notice")
    expect(notice).to_contain_text(re.compile(r"You can go on at \d"))
    expect(reader.field).to_have_value("Three")
    expect(reader.questions).to_have_count(2)


def test_another_tab_is_told_too_and_tokens_have_their_words(
    reader: Reader, stack: Stack, limit: Limit
) -> None:
    limit({"tokens_per_day": 1000}, {"runs": 0, "tokens": 700})
    reader.page.reload()
    reader.wait_until_ready()
    other = reader.second_tab()
    expect(other.locator("#composer")).to_be_visible()
    stack.upstream.reply({"text": "So."}, {"usage": {"prompt_tokens": 150, "completion_tokens": 49}})
    reader.send("One")
    reader.expect_answer("So.")
    for page in (reader.page, other):
        expect(page.locator("#limits")).to_contain_text("You have used 89% of the tokens of today.")


def test_german(reader: Reader, limit: Limit) -> None:
    limit({"cost_per_day": 10}, {"cost": 9})
    reader.page.context.add_cookies(
        [{"name": "django_language", "value": "de", "url": reader.page.url.partition("#")[0]}]
    )
    reader.page.reload()
    expect(reader.page.locator("#limits")).to_contain_text("kosten dürfen. Um ")
    # The window is borrowed.
    reader.page.context.clear_cookies(name="django_language")
