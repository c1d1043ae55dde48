"""Users sign in to an MCP server, on their profile, and from a tool call that waits for it; with a real authorization server."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader, wait_for_script
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.test_tools import with_tools
from tests.mcp_oauth_server import Issuer, serve
from tests.stack import Stack
from tests.tool_fixtures import tool_responses

pytestmark = pytest.mark.browser

SERVER = """
from chat.models import McpServer
from features.mcp.tool_lists import request_listing
McpServer.objects.all().delete()
request_listing(McpServer.objects.create(name="harbour", transport="http", url="%s", approval="never"))"""
HAS_TOOLS = (
    """async () => (await (await fetch("/api/mcp-servers/")).json()).some(({ tools }) => tools.length)"""
)
DEMANDS = """async () => (await (await fetch("/api/mcp-servers/")).json()).some((one) => one.sign_in_state === "needs_sign_in")"""
TIDE = {"call": {"name": "harbour__tide", "arguments": {"place": "Sole"}}}


@pytest.fixture
def issuer(stack: Stack) -> Iterator[Issuer]:
    with serve(stack.mcp_port) as issuer:
        stack.manage("shell", "-v", "0", "-c", SERVER % f"{issuer.iss}/mcp")
        yield issuer
    stack.manage(
        "shell", "-v", "0", "-c", "from chat.models import McpServer; McpServer.objects.all().delete()"
    )


@pytest.fixture
def visitor(browser: Browser, stack: Stack, newcomer: str) -> Iterator[Reader]:
    """Somebody in a window of their own, which goes to another host."""
    with Reader.at(browser, stack.base_url) as visitor:
        visitor.log_in_by_cookie(newcomer)
        yield visitor
        assert visitor.errors == []


def sign_in_on_profile(reader: Reader, check: Callable[[Page], None] = lambda _: None) -> Page:
    """check: called with the list, and with the page that says that it is done."""
    page = reader.page
    wait_for_script(page, DEMANDS)
    page.goto(f"{reader.base_url}/mcp/")
    check(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading")).to_have_text("You are signed in to harbour")
    check(page)
    return page


def look(page: Page) -> None:
    assert violations_in_both_themes(page) == []
    size = page.viewport_size
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(STICKING_OUT) == []
    page.set_viewport_size(size)


def test_a_call_waits_until_its_user_has_signed_in_in_another_tab(
    visitor: Reader, stack: Stack, issuer: Issuer
) -> None:
    page = sign_in_on_profile(visitor, look)
    wait_for_script(page, HAS_TOOLS)
    issuer.revoke()
    with_tools(visitor, "harbour__*")
    stack.upstream.reply({"text": "A moment. "}, TIDE, after_tools=0)
    stack.upstream.reply({"text": "It is high."}, after_tools=1)
    visitor.send("How is the tide at Sole?")
    card = page.get_by_role("region", name="Sign in to harbour again")
    expect(card).to_contain_text("Your sign-in has expired")
    expect(visitor.answers.locator(".status")).to_have_text("waiting for your sign-in")
    page.reload()
    expect(card).to_be_visible()
    look(page)
    with visitor.context.expect_page() as opened:
        card.get_by_role("button", name="Sign in").click()
    expect(opened.value.get_by_role("heading")).to_have_text("You are signed in to harbour")
    visitor.expect_answer("It is high.")
    expect(card).to_have_count(0)
    assert tool_responses(stack.upstream.requests[-1]) == ["high at Sole"]


def test_a_user_goes_on_without(visitor: Reader, stack: Stack, issuer: Issuer) -> None:
    page = sign_in_on_profile(visitor)
    wait_for_script(page, HAS_TOOLS)
    issuer.revoke()
    with_tools(visitor, "harbour__*")
    stack.upstream.reply(TIDE, after_tools=0)
    stack.upstream.reply({"text": "I do not know."}, after_tools=1)
    visitor.send("How is the tide at Sole?")
    card = page.get_by_role("region", name="Sign in to harbour")
    card.get_by_role("textbox").fill("Guess.")
    card.get_by_role("button", name="Go on without").click()
    visitor.expect_answer("I do not know.")
    assert tool_responses(stack.upstream.requests[-1]) == [
        "harbour__tide was not run: the user does not sign in to harbour. They say: Guess."
    ]


def test_a_call_sends_its_user_to_a_page_and_waits_for_their_word(
    visitor: Reader, stack: Stack, issuer: Issuer
) -> None:
    page = sign_in_on_profile(visitor)
    wait_for_script(page, HAS_TOOLS)
    with_tools(visitor, "harbour__*")
    pay = {"call": {"name": "harbour__pay", "arguments": {"place": "Sole"}}}
    stack.upstream.reply(pay, after_tools=0)
    stack.upstream.reply({"text": "It is paid."}, after_tools=1)
    visitor.send("Pay at Sole")
    card = page.get_by_role("region", name="harbour: pay sends you to a page")
    expect(card).to_contain_text("Pay for Sole.")
    expect(visitor.answers.locator(".status")).to_have_text("waiting until you are done")
    page.reload()
    link = card.get_by_role("link", name="https://pay.example.com/Sole")
    expect(link).to_have_attribute("href", "https://pay.example.com/Sole")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    look(page)
    assert [request for request in visitor.foreign_requests if "pay.example.com" in request] == []
    card.get_by_role("button", name="Done").click()
    visitor.expect_answer("It is paid.")
    assert tool_responses(stack.upstream.requests[-1]) == ["paid: accept"]


HAS_RESOURCES = """async () => (await (await fetch("/api/mcp-catalogs/")).json()).some(({ resources }) => resources.length)"""


@pytest.mark.usefixtures("ingest")
def test_a_resource_is_attached_as_a_file_and_a_prompt_becomes_the_text_of_the_message(
    visitor: Reader, stack: Stack, issuer: Issuer
) -> None:
    page = sign_in_on_profile(visitor)
    wait_for_script(page, HAS_RESOURCES)
    page.goto(visitor.base_url)
    page.get_by_role("button", name="Attach from a server").click()
    dialog = page.get_by_role("dialog", name="From servers")
    expect(dialog.get_by_role("region", name="harbour")).to_contain_text("All of this year.")
    look(page)
    dialog.get_by_role("button", name="Table of tides").click()
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("Table of tides.md")

    visitor.field.press_sequentially("/ask")
    page.get_by_role("option", name="harbour: Ask for a tide").click()
    form = page.get_by_role("dialog", name="Ask for a tide")
    form.get_by_label("place").fill("Sole")
    look(page)
    form.get_by_role("button", name="Insert").click()
    expect(visitor.field).to_have_value("How is the tide at Sole today?")
    stack.upstream.reply({"text": "It is high."})
    page.locator("[data-send]").click()
    visitor.expect_answer("It is high.")
    # Every later turn has the file, whatever becomes of the server.
    issuer.revoke()
    visitor.send("And now?")
    visitor.expect_answer("It is high.", index=1)
    assert "# Tides of " in str(stack.upstream.requests[-1])

    page.get_by_role("button", name="Attach from a server").click()
    dialog.get_by_role("button", name="Table of tides").click()
    expect(page.get_by_role("list", name="Attached files")).to_contain_text(
        "harbour: You have to sign in first"
    )
