"""Tools on the page: calls, their results, and the sources of the answer."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack
from tests.tool_fixtures import MOON, RESEARCH, SUN, search_call, streamed_call, tool_responses

pytestmark = pytest.mark.browser

IMAGE = """
from io import BytesIO
from PIL import Image
from chat.models import ToolCall, ToolCallImage
from knowledge.files import blobs
from knowledge.models import File
call = ToolCall.objects.get(name="current_time")
content = BytesIO()
Image.new("RGB", (320, 200), "teal").save(content, "WEBP")
paths = [blobs.store(content, f"files/{call.pk}{end}") for end in ("", "-thumbnail")]
file = File.objects.create(
    owner=call.run.turn.session.owner, name="clock, image 1", kind="image", content_type="image/webp", status="ready",
    size_bytes=content.tell(), content=paths[0], thumbnail=paths[1], width_px=320, height_px=200, is_tool_image=True,
)
ToolCallImage.objects.create(tool_call=call, file=file, position=0)
"""
POST = """async ([path, body]) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    return (await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}"""


@pytest.fixture
def helped(reader: Reader) -> Reader:
    return with_tools(reader, "current_time")


@pytest.fixture
def searching(reader: Reader) -> Reader:
    return with_tools(reader, "current_time", "web_search", "research_agent")


def with_tools(reader: Reader, *tools: str) -> Reader:
    """In a session with an agent that has them."""
    agent = reader.page.evaluate(
        POST, ["agents/", {"name": ", ".join(tools), "prompt": "", "tools": [*tools]}]
    )
    session: dict[str, Any] = reader.page.evaluate(POST, ["sessions/", {"agent": agent["id"]}])
    reader.page.goto(f"{reader.base_url}/#{session['id']}")
    reader.page.reload()
    reader.wait_until_ready()
    return reader


@pytest.mark.core
def test_calls_are_listed_with_their_outcome_live_and_after_a_reload(helped: Reader, stack: Stack) -> None:
    call = streamed_call("current_time", '{"timezone": "As', "ia", {"wait": "the call"}, '/Tokyo"}')
    stack.upstream.reply({"reasoning": "The clock knows."}, {"text": "A moment. "}, *call, times=1)
    stack.upstream.reply({"wait": "the answer"}, {"text": "It is late there."})
    helped.send("What time is it in Tokyo?")
    answer = helped.answers
    steps = answer.locator(".steps > summary")
    steps.click()
    expect(answer.locator(".tool .given")).to_have_text('{"timezone": "Asia')
    stack.upstream.release("the call")
    steps.click()
    expect(steps).to_contain_text("Looked at the clock")
    expect(answer.locator(".narration")).to_have_text("A moment.")
    stack.upstream.release("the answer")
    helped.expect_answer("It is late there.")
    for _ in range(2):
        steps.click()
        expect(answer.locator(".tool .hint")).to_have_text("Asia/Tokyo")
        expect(answer.locator(".tool .output")).to_contain_text("Asia/Tokyo")
        answer.locator(".round .reasoning summary").click()
        expect(answer.locator(".round .reasoning .markdown")).to_have_text("The clock knows.")
        helped.page.reload()
        helped.expect_answer("It is late there.")


def test_an_image_of_a_call_is_shown_below_its_result_and_opens(helped: Reader, stack: Stack) -> None:
    stack.upstream.reply(*streamed_call("current_time", "{}"), times=1)
    stack.upstream.reply({"text": "It is late."})
    helped.send("What time is it?")
    helped.expect_answer("It is late.")
    stack.manage("shell", "-v", "0", "-c", IMAGE)
    helped.page.reload()
    helped.expect_answer("It is late.")
    helped.answers.locator(".steps > summary").click()
    image = helped.answers.locator(".call-images").get_by_role("img", name="clock, image 1")
    expect(image).to_have_js_property("naturalWidth", 320)
    assert violations_in_both_themes(helped.page) == []
    helped.answers.get_by_role("button", name="clock, image 1").click()
    shown = helped.page.get_by_role("dialog").get_by_role("img", name="clock, image 1")
    expect(shown).to_have_js_property("naturalWidth", 320)


def test_a_copied_answer_has_a_paragraph_break_where_tools_ran(helped: Reader, stack: Stack) -> None:
    call = streamed_call("current_time", "{}")
    stack.upstream.reply({"text": "Let me look that up."}, *call, times=1)
    stack.upstream.reply({"text": "It is late."})
    helped.context.grant_permissions(["clipboard-read", "clipboard-write"])
    helped.send("What time is it?")
    helped.expect_answer("It is late.")
    for _ in range(2):
        helped.answers.get_by_role("button", name="Copy answer").click()
        expect(helped.answers.get_by_role("button", name="Copied")).to_be_visible()
        copied = helped.page.evaluate("navigator.clipboard.readText()")
        assert copied == "Let me look that up.\n\nIt is late."
        helped.page.reload()
        helped.expect_answer("It is late.")


@pytest.mark.core
def test_a_search_shows_its_pages_and_every_citation_opens_one(searching: Reader, stack: Stack) -> None:
    stack.searching.find(MOON, SUN)
    stack.upstream.reply(search_call("who pulls the sea"), after_tools=0)
    stack.upstream.reply({"text": "The Moon [1], and"}, {"text": " the Sun [2]."}, after_tools=1)
    searching.send("Who pulls the sea?")
    searching.expect_answer("The Moon 1, and the Sun 2.")
    answer = searching.answers
    for _ in range(2):
        expect(answer.locator(".steps .line")).to_contain_text("Searched the web · 2 sources")
        chip = answer.get_by_role("link", name="Source 1: Moon")
        expect(chip).to_have_attribute("href", "https://moon.example/")
        expect(chip).to_have_attribute("rel", "noopener noreferrer nofollow")
        chip.focus()
        over = searching.page.locator(".source-card")
        expect(over).to_contain_text("moon.example")
        expect(over).to_contain_text("It pulls.")
        chip.press("Escape")
        expect(over).to_be_hidden()
        expect(answer.locator(".sources .document-card")).to_have_count(2)
        answer.locator(".steps > summary").click()
        expect(answer.locator(".tool .document-card").first).to_contain_text("moon.exampleMoonIt pulls.")
        searching.page.reload()


def test_the_sources_of_a_later_answer_are_counted_from_one(searching: Reader, stack: Stack) -> None:
    """On the page and in what is copied, while it streams and afterwards; other numbers in brackets stay as they are."""
    stack.searching.find(MOON, SUN)
    stack.upstream.reply(search_call("moon"), after_tools=0)
    stack.upstream.reply({"text": "The Moon [1], the Sun [2]."}, after_tools=1, times=1)
    searching.context.grant_permissions(["clipboard-read", "clipboard-write"])
    searching.send("Who pulls the sea?")
    searching.expect_answer("The Moon 1, the Sun 2.")
    stack.upstream.reply(
        {"text": "In [2024] m[3][4] rose over [0, 1], $[3]$: the Moon [3]."}, after_tools=1, times=1
    )
    searching.send("And now?")
    for _ in range(2):
        answer = searching.answers.last
        expect(answer.get_by_role("link", name="Source 1: Moon")).to_have_attribute(
            "href", "https://moon.example/"
        )
        expect(answer.locator(".body")).to_contain_text("In [2024] m[3][4] rose over [0, 1], ")
        expect(answer.locator(".sources .document-card .number")).to_have_text("1")
        answer.get_by_role("button", name="Copy answer").click()
        copied = searching.page.evaluate("navigator.clipboard.readText()")
        assert copied == "In [2024] m[3][4] rose over [0, 1], $[3]$: the Moon [[1]](https://moon.example/)."
        searching.page.reload()


@pytest.mark.full
def test_an_agent_finds_a_page_opens_it_and_cites_it_at_its_place(reader: Reader, stack: Stack) -> None:
    """With one number for the page, found and opened; the same after a reload."""
    text = "".join(f"<p>Paragraph {n} tells how the moon pulls the sea.</p>" for n in range(1, 40))
    title = "Tides explained"
    url = stack.searching.publish("tides", f"<title>{title}</title><article><h1>{title}</h1>{text}</article>")
    stack.searching.find({"title": title, "url": url, "content": "How the sea is pulled."})
    stack.upstream.reply(search_call("who pulls the sea"), after_tools=0)
    stack.upstream.reply({"call": {"name": "open_url", "arguments": {"url": url}}}, after_tools=1)
    stack.upstream.reply({"text": "The moon pulls it [1]. So it is."}, after_tools=2)
    reading = with_tools(reader, "web_search", "open_url")
    reading.send("Who pulls the sea?")
    reading.expect_answer("The moon pulls it 1. So it is.")
    assert "Paragraph 39" in tool_responses(stack.upstream.requests[-1])[-1]
    answer = reading.answers
    for _ in range(2):
        expect(answer.locator(".steps .line")).to_contain_text("1 source")
        chip = answer.get_by_role("link", name=f"Source 1: {title}")
        expect(chip).to_have_count(1)
        expect(chip).to_have_attribute("href", url)
        chip.focus()
        expect(reading.page.locator(".source-card")).to_contain_text("Paragraph 1 tells")
        chip.press("Escape")
        expect(answer.locator(".sources .document-card")).to_have_count(1)
        answer.locator(".steps > summary").click()
        opened = answer.locator(".tool[data-tool=open_url]")
        expect(opened).to_have_attribute("data-status", "completed")
        expect(opened.locator(".document-card")).to_contain_text(title)
        assert violations_in_both_themes(reading.page) == []
        reading.page.reload()


def test_parallel_calls_stand_side_by_side_and_agents_show_what_they_do(
    searching: Reader, stack: Stack
) -> None:
    """One call fails; both look the same after a reload."""
    stack.searching.find(MOON)
    bad = {"call": {"name": "current_time", "arguments": {"timezone": "Nowhere/At-All"}}}
    stack.upstream.reply(RESEARCH, bad, contains="Ask around", after_tools=0)
    stack.upstream.reply(search_call("moon"), contains="Who pulls", after_tools=0)
    stack.upstream.reply({"text": "**The Moon** [1]."}, contains="Who pulls", after_tools=1)
    stack.upstream.reply({"text": "Done [1]."}, contains="Ask around", after_tools=2)
    searching.send("Ask around")
    searching.expect_answer("Done 1.")
    answer = searching.answers
    for _ in range(2):
        expect(answer.locator(".steps .line")).to_contain_text("Researched · 1 source · 1 failed")
        answer.locator(".steps > summary").click()
        calls = answer.locator(".calls.parallel > .tool")
        expect(calls).to_have_count(2)
        agent, clock = calls.nth(0), calls.nth(1)
        expect(agent.locator(".inside > .tool")).to_have_attribute("data-tool", "web_search")
        expect(agent.locator(":scope > .outcome .report strong")).to_have_text("The Moon")
        expect(clock).to_have_attribute("data-status", "failed")
        expect(clock.locator(".state")).to_contain_text("failed")
        tops = [call.bounding_box()["y"] for call in (agent, clock)]
        assert tops[0] == tops[1]
        searching.page.reload()


def test_a_tool_that_is_stopped_says_so(searching: Reader, stack: Stack) -> None:
    stack.searching.answer(hang=True)
    stack.upstream.reply(search_call("for ever"))
    searching.send("Look it up")
    answer = searching.answers
    expect(answer.locator(".steps .line")).to_have_text("Searching the web: for ever")
    answer.locator(".steps > summary").click()
    expect(answer.locator(".tool .state")).to_have_text("running…")
    searching.stop.click()
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(answer.locator(".tool .state")).to_have_text("stopped")
    searching.page.reload()
    expect(answer.locator(".steps .line")).to_have_text("Searching the web · stopped")


def test_a_tool_is_demanded_of_the_next_answer_alone(searching: Reader, stack: Stack) -> None:
    call = {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}
    stack.upstream.reply(call, times=1)
    stack.upstream.reply({"text": "It is late there."})
    tool = searching.page.locator("#tool")
    tool.click()
    searching.page.get_by_role("menuitemradio", name="Date and time").click()
    expect(tool).to_have_attribute("aria-pressed", "true")
    searching.send("What time is it in Tokyo?")
    searching.expect_answer("It is late there.")
    expect(tool).to_have_attribute("aria-pressed", "false")
    searching.send("And now?")
    searching.expect_answer("It is late there.", index=1)
    asked = [one.body for one in stack.upstream.requests]
    assert [body.get("tool_choice", "auto") for body in asked] == ["required", "auto", "auto"]
    assert [one["function"]["name"] for one in asked[0]["tools"]] == ["current_time"]
