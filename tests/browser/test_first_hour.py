"""The first hour of a new instance, by a script that knows only what is on the screen: the first admin, a provider of models, an
invitation, a registration, the first answer, a second device, an agent with a file and the passage that its answer cites.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.knowledge_scene import FLOOD, SEARCH, TIDES, expect_state, open_section
from tests.browser.reader import Reader
from tests.browser.test_agent_files import begin, save, text_file
from tests.browser.test_agent_options import pick
from tests.browser.test_shared_agents import open_agents
from tests.instance import LaunchedInstance
from tests.upstream import Upstream

pytestmark = [pytest.mark.browser, pytest.mark.fault, pytest.mark.timeout(600)]

KEY = "sk-of-the-harbour-0123456789"
PASSWORD = "two tides a day"
PRODUCTION = {
    "SECRET_KEY": "k" * 50,
    "SECRETS_KEYS": "0d8uCJGFmJ2k7y4Yl6yq2mWq4sBJ0h9g0Fv0s3Zt1uU=",
    "ALLOWED_HOSTS": "127.0.0.1",
    "REGISTRATION": "invitation",
}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def harbour() -> Iterator[Upstream]:
    """The server of models that the admin has an account with."""
    with Upstream() as server:
        server.api_key = KEY
        server.models = ["harbour-large", "harbour-small"]
        server.reply(SEARCH, contains="flood", after_tools=0)
        server.reply({"text": "At noon [1]."}, contains="flood", after_tools=1)
        server.reply({"text": "The moon pulls, "}, {"wait": "the second device"}, {"text": "twice a day."})
        server.reply({"text": "Hi"}, stream=False)
        yield server


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[LaunchedInstance]:
    instance = LaunchedInstance(tmp_path, **PRODUCTION)
    instance.launch()
    instance.wait_until(lambda: "Ctrl-C stops everything" in instance.log_text, "the start")
    yield instance
    instance.stop()


def printed_link(instance: LaunchedInstance) -> str:
    """What the operator reads in the terminal."""
    found = re.search(r"make the first admin at (\S+)", instance.log_text)
    assert found, instance.log_text[-3000:]
    return found[1]


def create_account(reader: Reader, name: str) -> None:
    """With a form after which its owner is logged in."""
    page = reader.page
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect_chat(reader)


def expect_chat(reader: Reader) -> None:
    expect(reader.page.get_by_role("textbox", name="Message")).to_be_visible()


def add_provider(page: Page, address: str) -> None:
    page.get_by_role("button", name="Connect a model").first.click()
    form = page.get_by_role("dialog").last
    form.get_by_label("Name").fill("Harbour")
    form.get_by_label("Address").fill(address)
    form.get_by_label("API key").fill(KEY)
    form.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog", name="Model providers")
    expect(dialog.get_by_role("status")).to_contain_text("The server has 2 models.")
    dialog.get_by_role("checkbox", name="harbour-large").check()
    expect(dialog.get_by_role("button", name="Settings of harbour-large")).to_be_visible()
    dialog.get_by_role("button", name="Test").click()
    expect(dialog.get_by_role("status")).to_contain_text("harbour-large answered in")
    page.keyboard.press("Escape")  # back to the list
    expect(dialog.get_by_role("button", name="Add a model provider")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def invite(page: Page, user: str) -> str:
    """The link that the admin copies from the screen."""
    page.get_by_role("button", name=user).click()
    page.get_by_role("menuitem", name="Admin").click()
    page.get_by_role("link", name="Invitations", exact=True).click()
    page.get_by_role("link", name=re.compile("Add invitation", re.IGNORECASE)).first.click()
    page.get_by_role("button", name="Save", exact=True).click()
    return page.get_by_label("Give this link to those whom you invite").input_value()


def make_agent(reader: Reader, name: str, file: str, text: str) -> None:
    """With a file that has been read."""
    open_agents(reader)
    save(begin(reader.page, name, text_file(file, text)))
    reader.page.keyboard.press("Escape")
    open_section(reader.page)
    reader.page.get_by_role("link", name=name).click()
    expect_state(reader.page, file, "ready")


def test_from_the_printed_link_to_answers_on_two_devices_and_a_cited_passage(
    browser: Browser, instance: LaunchedInstance, harbour: Upstream
) -> None:
    with (
        Reader.at(browser, instance.address) as admin,
        Reader.at(browser, instance.address) as laptop,
        Reader.at(browser, instance.address, **PHONE) as phone,
    ):
        admin.page.goto(printed_link(instance))
        create_account(admin, "root")
        add_provider(admin.page, harbour.base_url)
        link = invite(admin.page, "root")

        laptop.page.goto(link)
        create_account(laptop, "marina")
        laptop.pick("harbour-large")
        laptop.send("Why are there tides?")
        laptop.expect_partial_answer("The moon pulls, ")

        phone.page.goto(f"{instance.address}/")
        phone.fill_in("marina", PASSWORD)
        expect_chat(phone)
        phone.page.get_by_role("button", name="Chats").click()
        # A model names the chat after the first answer.
        phone.page.locator("#sessions").get_by_role("link", name="Untitled chat").click()
        phone.expect_partial_answer("The moon pulls, ")
        harbour.release("the second device")
        for device in (laptop, phone):
            device.expect_answer("The moon pulls, twice a day.")
        assert harbour.requests[-1].headers["Authorization"] == f"Bearer {KEY}"

        make_agent(laptop, "Pilot", "tides.txt", TIDES)
        laptop.page.get_by_role("button", name="New chat").first.click()
        pick(laptop, "Pilot")
        laptop.send("When is the flood?")
        laptop.expect_answer("At noon 1.")
        laptop.answers.locator(".body .citation-chip").click()
        passage = laptop.page.get_by_role("dialog", name="tides.txt").locator("mark")
        expect(passage).to_be_in_viewport()
        expect(passage).to_contain_text(FLOOD)
        for device in (admin, laptop, phone):
            assert (device.errors, device.foreign_requests) == ([], [])
