"""Files are added in the form of an agent: its chats cite them, and so do those of people it is shared with."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.knowledge_scene import FLOOD, SEARCH, TIDES, expect_state, keeper, open_section
from tests.browser.reader import Reader
from tests.browser.test_agent_options import pick
from tests.browser.test_shared_agents import open_agents
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.windows import Windows
from tests.stack import Stack
from tests.tool_fixtures import tool_responses

pytestmark = pytest.mark.browser
BASES = re.compile(r"/api/knowledge-bases/$")
STORED = """() => Promise.all(["agents", "knowledge-bases"].map(async (path) => {
    const stored = await (await fetch(`/api/${path}/`)).json();
    return stored.results ?? stored;
}))"""


@pytest.fixture
def reader(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    with keeper(windows) as reader:
        yield reader


def text_file(name: str, text: str) -> dict[str, object]:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def begin(page: Page, name: str, *files: dict[str, object]) -> Locator:
    """Fill the form of a new agent; return the dialog."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="New agent").click()
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.locator("input[type=file]").set_input_files(list(files))
    return dialog


def save(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("button", name="New agent")).to_be_visible()


def expect_cited(reader: Reader, stack: Stack, agent: str) -> None:
    """Ask in a new chat with the agent; its model searches and is given the passage."""
    reader.page.get_by_role("button", name="New chat").first.click()
    pick(reader, agent)
    stack.upstream.reply(SEARCH, times=1)
    stack.upstream.reply({"text": "At noon [1]."}, times=1)
    reader.send("When is the flood?")
    reader.expect_answer("At noon 1.")
    [response] = tool_responses(stack.upstream.requests[-1])
    assert FLOOD in json.dumps(json.loads(response))


def test_chats_with_an_agent_cite_its_files_and_those_of_people_it_is_shared_with_too(
    reader: Reader, windows: Windows, stack: Stack, newcomer: str
) -> None:
    open_agents(reader)
    dialog = begin(reader.page, "Pilot", text_file("tides.txt", TIDES))
    dialog.get_by_label("People").fill(newcomer)
    dialog.get_by_label("Make them readers").check()
    assert violations_in_both_themes(reader.page) == []
    save(dialog)
    reader.page.keyboard.press("Escape")
    open_section(reader.page)
    reader.page.get_by_role("link", name="Pilot").click()
    expect_state(reader.page, "tides.txt", "ready")
    expect_cited(reader, stack, "Pilot")
    with windows.borrowed(newcomer) as other:
        expect_cited(other, stack, "Pilot")


def test_a_file_that_is_refused_stays_in_the_form_and_others_join_those_of_the_agent(reader: Reader) -> None:
    open_agents(reader)
    dialog = begin(reader.page, "Surveyor", text_file("nothing.txt", ""), text_file("one.txt", "One."))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").filter(has_text="Some files were refused")).to_be_visible()
    expect(dialog.locator(".file-card")).to_have_count(1)
    expect(dialog.get_by_role("checkbox", name="Surveyor")).to_be_checked()
    dialog.get_by_role("button", name="Remove: nothing.txt").click()
    save(dialog)
    dialog.get_by_role("button", name="Surveyor").first.click()
    dialog.locator("input[type=file]").set_input_files([text_file("two.txt", "Two.")])
    expect(dialog.get_by_label("The files go to").locator("option:checked")).to_have_text("Surveyor")
    save(dialog)
    reader.page.keyboard.press("Escape")
    open_section(reader.page)
    expect(reader.page.locator(".base-rows li")).to_have_count(1)
    reader.page.get_by_role("link", name="Surveyor").click()
    expect(reader.page.locator(".documents li")).to_have_count(2)


def test_a_form_that_is_left_leaves_nothing(reader: Reader) -> None:
    open_agents(reader)
    dialog = begin(reader.page, "Visitor", text_file("nothing.txt", ""), text_file("one.txt", "One."))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("checkbox", name="Visitor")).to_be_checked()
    dialog.get_by_role("button", name="Cancel").click()
    with reader.page.expect_response(lambda response: response.request.method == "DELETE"):
        reader.page.get_by_role("button", name="Discard").click()
    expect(dialog.get_by_role("button", name="New agent")).to_be_visible()
    reader.page.keyboard.press("Escape")
    open_section(reader.page)
    expect(reader.page.get_by_text("A knowledge base holds documents")).to_be_visible()


@contextmanager
def held_base(page: Page) -> Iterator[None]:
    """The server does not answer the request for a new base until the block ends."""
    held: list[Route] = []
    page.route(
        BASES, lambda route: held.append(route) if route.request.method == "POST" else route.fallback()
    )
    yield
    page.unroute(BASES)  # continues what is held


def test_a_file_that_is_removed_while_its_base_is_made_does_not_hold_the_agent_up(reader: Reader) -> None:
    open_agents(reader)
    dialog = begin(reader.page, "Courier", text_file("one.txt", "One."))
    with held_base(reader.page):
        with reader.page.expect_request(BASES):
            dialog.get_by_role("button", name="Save").click()
        dialog.get_by_role("button", name="Remove: one.txt").click()
    expect(dialog.get_by_role("button", name="New agent")).to_be_visible()
    expect(dialog.get_by_role("button", name="Courier").first).to_be_visible()


def test_a_form_that_is_left_while_its_base_is_made_leaves_none(reader: Reader) -> None:
    open_agents(reader)
    dialog = begin(reader.page, "Stranger", text_file("one.txt", "One."))
    with (
        reader.page.expect_response(lambda response: response.request.method == "DELETE"),
        held_base(reader.page),
    ):
        with reader.page.expect_request(BASES):
            dialog.get_by_role("button", name="Save").click()
        dialog.get_by_role("button", name="Cancel").click()
        reader.page.get_by_role("button", name="Discard").click()
        expect(dialog.get_by_role("button", name="New agent")).to_be_visible()
    assert reader.page.evaluate(STORED) == [[], []]


def test_the_form_with_files_fits_a_phone(caller: Reader) -> None:
    caller.page.get_by_role("button", name="Chats", exact=True).click()
    open_agents(caller)
    begin(caller.page, "Porter", text_file(f"{'long' * 40}.txt", "One."), text_file("two.txt", "Two."))
    expect(caller.page.get_by_role("dialog").locator(".file-card")).to_have_count(2)
    assert violations_in_both_themes(caller.page) == []
    assert caller.page.evaluate(STICKING_OUT) == []
