"""An agent is shared with a group or a person on the page: they read it and chat with it, until it is shared no more."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.windows import PHONE as WIDE_PHONE
from tests.stack import Stack

pytestmark = pytest.mark.browser
PHONE = {**WIDE_PHONE, "viewport": {"width": 360, "height": 780}}
JOIN = """
    INSERT INTO auth_user_groups (user_id, group_id)
    SELECT auth_user.id, %s FROM auth_user WHERE username = ANY(%s)"""


@pytest.fixture
def crew(stack: Stack, newcomer: str) -> Iterator[str]:
    """The name of a group of alice and the newcomer."""
    name = f"Crew {uuid4().hex[:6]}"
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        insert = "INSERT INTO auth_group (name) VALUES (%s) RETURNING id"
        (group,) = connection.execute(insert, [name]).fetchone() or (0,)
        connection.execute(JOIN, [group, ["alice", newcomer]])
    yield name
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        for table in ("auth_user_groups", "chat_agent_shared_with"):
            connection.execute(f"DELETE FROM {table} WHERE group_id = %s", [group])
        connection.execute("DELETE FROM auth_group WHERE id = %s", [group])


def open_agents(reader: Reader) -> None:
    reader.page.locator("#account").click()
    reader.page.get_by_role("menuitem", name="Agents").click()


def share(reader: Reader, group: str, *, shared: bool) -> None:
    box = reader.page.get_by_role("dialog").get_by_label(group)
    box.set_checked(shared)
    reader.page.get_by_role("button", name="Save").click()
    expect(box).to_have_count(0)


@pytest.fixture
def shared(reader: Reader, crew: str) -> Locator:
    """The dialog of alice, after she has shared an agent with the group."""
    open_agents(reader)
    dialog = reader.page.get_by_role("dialog")
    dialog.get_by_role("button", name="New agent").click()
    dialog.get_by_label("Name", exact=True).fill("Tides")
    dialog.get_by_label("Prompt", exact=True).fill("Speak of tides.")
    share(reader, crew, shared=True)
    expect(dialog.get_by_text(f"Shared with {crew}")).to_be_visible()
    return dialog


@pytest.fixture
def guest(browser: Browser, stack: Stack, newcomer: str, shared: Locator) -> Iterator[Reader]:
    with Reader.at(browser, stack.base_url, **PHONE) as reader:
        reader.log_in_by_cookie(newcomer)
        yield reader
        assert reader.errors == []


def check_look(reader: Reader) -> None:
    assert violations_in_both_themes(reader.page) == []
    assert reader.page.evaluate(STICKING_OUT) == []


def test_a_member_reads_it_and_changes_nothing(reader: Reader, guest: Reader) -> None:
    assert violations_in_both_themes(reader.page) == []
    guest.page.get_by_role("button", name="Chats", exact=True).click()
    open_agents(guest)
    dialog = guest.page.get_by_role("dialog")
    expect(dialog.get_by_text("Shared by alice")).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete Tides")).to_have_count(0)
    check_look(guest)
    dialog.get_by_role("button", name="Tides").click()
    prompt = dialog.get_by_label("Prompt", exact=True)
    expect(prompt).to_have_value("Speak of tides.")
    expect(prompt).not_to_be_editable()
    expect(dialog.get_by_role("button", name="Save")).to_have_count(0)
    check_look(guest)
    dialog.get_by_role("button", name="Back").click()
    expect(dialog.get_by_role("button", name="New agent")).to_be_visible()


def test_it_answers_a_member_until_it_is_shared_no_more(
    reader: Reader, guest: Reader, stack: Stack, shared: Locator, crew: str
) -> None:
    agents = guest.page.locator("#agents")
    agents.locator("summary").click()
    check_look(guest)
    agents.get_by_role("radio", name="Tides").check()
    guest.page.keyboard.press("Escape")
    guest.send("Hello")
    guest.expect_echo("Hello")
    assert "Speak of tides." in str(stack.upstream.requests[-1].body["messages"])

    shared.get_by_role("button", name="Tides").first.click()
    share(reader, crew, shared=False)
    guest.send("Go on")
    guest.expect_echo("Go on", index=1)
    assert "Speak of tides." not in str(stack.upstream.requests[-1].body["messages"])
    expect(agents.locator("summary")).to_have_attribute("title", "Agent: No agent")


def test_it_is_shared_with_a_person_who_takes_it_off_the_list(
    reader: Reader, guest: Reader, shared: Locator, newcomer: str
) -> None:
    shared.get_by_role("button", name="New agent").click()
    shared.get_by_label("Name", exact=True).fill("Lighthouse")
    shared.get_by_label("People").fill(f"{newcomer}\nnobody at all\n")
    shared.get_by_role("button", name="Save").click()
    expect(shared.get_by_role("alert")).to_contain_text("nobody at all: There is no user of this name.")
    check_look(reader)
    shared.get_by_label("People").fill(newcomer)
    shared.get_by_role("button", name="Save").click()
    row = shared.get_by_role("listitem").filter(has_text="Lighthouse")
    expect(row.get_by_text(f"Shared with {newcomer}")).to_be_visible()

    guest.page.get_by_role("button", name="Chats", exact=True).click()
    open_agents(guest)
    dialog = guest.page.get_by_role("dialog", name="Agents")
    expect(dialog.get_by_role("button", name="Take Tides off")).to_have_count(0)
    check_look(guest)
    dialog.get_by_role("button", name="Take Lighthouse off your list").click()
    guest.page.get_by_role("button", name="Take off", exact=True).click()
    expect(dialog.get_by_text("Lighthouse")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Tides")).to_be_visible()
