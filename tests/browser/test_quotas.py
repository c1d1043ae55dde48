"""The page says in words that a quota is used up, and does not hammer the server."""

import pytest
from playwright.sync_api import Browser, WebSocket, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

USER = "from django.contrib.auth.models import User; user = User.objects.get(username='{name}')\n"
# As many sockets as allowed, open elsewhere; "not": closed again.
SOCKETS = """
from django.conf import settings
from chat.infrastructure.redis_client import sync_redis
from chat.infrastructure.socket_registry import registry_key
key = registry_key(user.pk)
entries = {{f"elsewhere {{n}}": 4_000_000_000 for n in range(settings.MAX_SOCKETS_PER_USER)}}
sync_redis().{act}
"""
SESSIONS = """
from django.conf import settings
from chat.models import Session
Session.objects.bulk_create(Session(owner=user, title="Old") for _ in range(settings.MAX_SESSIONS_PER_USER))
"""


def run(stack: Stack, name: str, script: str) -> None:
    stack.manage("shell", "-v", "0", "-c", USER.format(name=name) + script)


def test_a_window_too_many_says_so_and_connects_once_another_is_closed(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    run(stack, newcomer, SOCKETS.format(act="zadd(key, entries)"))
    with Reader.at(browser, stack.base_url) as reader:
        page = reader.page
        opened: list[WebSocket] = []
        # Playwright sets an attribute of the handler, which a builtin method has not.
        page.on("websocket", lambda socket: opened.append(socket))  # noqa: PLW0108
        reader.log_in(newcomer, newcomer)
        expect(page.get_by_role("alert")).to_contain_text("You have 500 windows and programs connected.")
        expect(page.locator("#connection")).to_have_text("Not connected: too many windows")
        # As long as the ordinary pauses of some reconnections.
        page.wait_for_timeout(5_000)
        assert len(opened) == 1
        run(stack, newcomer, SOCKETS.format(act="zrem(key, *entries)"))
        # Without waiting for the next try: as after coming back to this window.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#connection")).to_have_text("Connected again")
        expect(page.get_by_role("alert")).to_be_hidden()
        reader.send("Hello")
        expect(reader.answers).to_have_count(1)


def test_settings_list_the_limits_with_what_is_used(browser: Browser, stack: Stack, newcomer: str) -> None:
    run(stack, newcomer, "from chat.models import Agent; Agent.objects.create(owner=user, name='Tides')")
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in(newcomer, newcomer)
        reader.wait_until_ready()
        reader.page.locator("#account").click()
        reader.page.get_by_role("menuitem", name="Settings").click()
        limits = reader.page.get_by_role("region", name="Limits")
        for name, use in (
            ("Agents", "1 of 200"),
            ("Chats", "0 of 10,000"),
            ("Texts and files", "0 KiB of 1 GiB"),
        ):
            expect(limits.get_by_role("row", name=f"{name} {use}", exact=True)).to_be_visible()
        assert violations_in_both_themes(reader.page) == []


STORED = """
from django.conf import settings
from chat.models import StoredBytes
StoredBytes.objects.update_or_create(user=user, defaults={{"total": settings.MAX_STORED_BYTES_PER_USER * {percent} // 100 + 1}})
"""


def test_a_quota_is_shown_before_and_when_it_is_full(browser: Browser, stack: Stack, newcomer: str) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in(newcomer, newcomer)
        reader.wait_until_ready()
        line = reader.page.locator("#limits")
        expect(line).to_be_hidden()
        run(stack, newcomer, STORED.format(percent=85))
        reader.page.reload()
        expect(line).to_have_text(
            "Your chats and files take up 85% of the room for them. Delete some chats for good."
        )
        run(stack, newcomer, STORED.format(percent=100))
        reader.page.reload()
        expect(line).to_contain_text("Your chats and files fill the 1 GiB there are for them.")


def test_a_chat_too_many_is_refused_in_words_and_the_text_stays(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    run(stack, newcomer, SESSIONS)
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in(newcomer, newcomer)
        reader.wait_until_ready()
        reader.send("One chat more")
        expect(reader.page.get_by_role("alert")).to_have_text(
            "You have 10,000 chats, and there is no room for more. Delete one for good first."
        )
        expect(reader.field).to_have_value("One chat more")
