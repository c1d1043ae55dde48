"""A conversation with one model: streaming, stopping, editing, regenerating."""

import pytest
from playwright.sync_api import Route, expect

from tests.browser.reader import Reader, wait_for_script
from tests.stack import Stack

pytestmark = pytest.mark.browser

# The newest chats and those in the trash.
CHATS = """async () => {
    const rows = async (path) => (await (await fetch(`/api/${path}`)).json()).results.map(({ id }) => id);
    return JSON.stringify([await rows("sessions/"), await rows("trash/")]);
}"""


def test_an_answer_is_watched_while_it_is_written(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"reasoning": "Hm."}, {"text": "**Two** "}, {"wait": "go on"}, {"text": "*bulges*."})
    reader.send("Why two tides?\nBriefly.")
    reader.expect_partial_answer("Two")
    expect(reader.answers.locator("strong")).to_have_text("Two")
    expect(reader.page.locator("#announcer")).to_be_empty()
    expect(reader.stop).to_be_visible()
    stack.upstream.release("go on")
    reader.expect_answer("Two bulges.")
    expect(reader.questions.locator(".question-text")).to_have_text(
        "Why two tides?\nBriefly.", use_inner_text=True
    )
    expect(reader.page.locator("#announcer")).to_contain_text("Two bulges.")
    expect(reader.stop).to_be_hidden()


def test_reasoning_is_folded_and_opens(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"reasoning": "The *Moon* pulls."}, {"text": "Done."})
    reader.send("Why?")
    reader.expect_answer("Done.")
    thought = reader.answers.locator(".reasoning .markdown")
    expect(thought).to_be_hidden()
    reader.answers.locator(".reasoning > summary").click()
    expect(thought).to_have_text("The Moon pulls.")


def test_a_stopped_answer_keeps_what_was_shown(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Once upon"}, {"hang": True})
    reader.send("A long story")
    reader.expect_partial_answer("Once upon")
    reader.stop.click()
    reader.expect_answer("Once upon")
    expect(reader.answers.locator(".status")).to_have_text("stopped")
    stack.upstream.wait_for(lambda: stack.upstream.requests[0].ended == "disconnected")
    reader.page.reload()
    reader.expect_answer("Once upon")


@pytest.mark.core
def test_the_first_message_is_edited_and_both_branches_stay(reader: Reader) -> None:
    reader.send("Hallo")
    reader.expect_echo("Hallo")
    reader.edit(0, "Hello")
    reader.expect_echo("Hello")
    expect(reader.questions.locator(".place")).to_have_text("2/2")
    reader.questions.get_by_label("Previous version").click()
    reader.expect_echo("Hallo")
    reader.page.reload()
    reader.expect_echo("Hallo")


def test_a_later_message_is_edited_below_the_same_answer(reader: Reader) -> None:
    reader.send("first")
    reader.expect_echo("first")
    reader.send("second")
    reader.expect_echo("second", index=1)
    reader.edit(1, "another second")
    reader.expect_echo("another second", index=1)
    reader.expect_echo("first")


@pytest.mark.core
def test_an_answer_is_written_again_and_both_are_kept(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "one"}, times=1)
    stack.upstream.reply({"text": "two"})
    reader.send("Pick a number")
    reader.expect_answer("one")
    reader.answers.get_by_role("button", name="Regenerate").click()
    reader.page.get_by_role("menuitem", name="Try again").click()
    reader.expect_answer("two")
    expect(reader.answers.locator(".place")).to_have_text("2/2")
    reader.answers.get_by_label("Previous version").click()
    reader.expect_answer("one")


@pytest.mark.core
def test_a_broken_answer_says_why_and_is_tried_again(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Half of"}, {"eof": "abort"}, times=1)
    reader.send("Explain")
    reader.expect_answer("Half of")
    expect(reader.answers.locator(".problem")).to_contain_text("broke off in the middle")
    reader.answers.get_by_role("button", name="Try again").click()
    reader.expect_echo("Explain")


@pytest.mark.core
def test_a_refused_message_is_not_lost_and_leaves_no_empty_chat(reader: Reader) -> None:
    text = "x" * 100_001
    before = reader.page.evaluate(CHATS)
    reader.send(text)
    expect(reader.page.get_by_role("alert")).to_contain_text("too long")
    expect(reader.field).to_have_value(text)
    expect(reader.page.locator("#title")).to_have_text("New chat")
    wait_for_script(reader.page, f"async before => (await ({CHATS})()) === before", arg=before)
    reader.send("Shorter")
    reader.expect_echo("Shorter")


def test_a_chat_that_another_tab_has_begun_outlives_a_refused_first_message(reader: Reader) -> None:
    token = reader.page.evaluate("document.cookie.match(/csrftoken=([^;]+)/)[1]")
    begun: list[str] = []

    def send_from_elsewhere(route: Route) -> None:
        turns = route.request.url
        headers = {"X-CSRFToken": token, "Referer": turns}
        assert reader.context.request.post(turns, data={"text": "From elsewhere"}, headers=headers).ok
        begun.append(turns.removesuffix("turns/"))
        route.fulfill(status=409, json={"code": "turn_in_progress", "message": "No."})

    reader.page.route("**/turns/", send_from_elsewhere, times=1)
    with reader.page.expect_response(lambda answer: "if_empty=1" in answer.url):
        reader.send("From here")
    expect(reader.field).to_have_value("From here")
    assert reader.context.request.get(begun[0]).ok


def test_a_fold_that_is_opened_at_the_end_is_read_from_its_beginning(reader: Reader, stack: Stack) -> None:
    thoughts = "\n\n".join(f"Thought {n}" for n in range(80))
    stack.upstream.reply({"reasoning": thoughts}, {"text": "Done."})
    reader.send("Think")
    reader.expect_answer("Done.")
    fold = reader.answers.locator(".reasoning summary")
    fold.click()
    expect(reader.answers.get_by_text("Thought 0", exact=True)).to_be_visible()
    expect(fold).to_be_in_viewport()
    fold.click()
    expect(reader.answers.get_by_text("Done.")).to_be_in_viewport()


def test_each_block_is_read_in_the_direction_of_its_text(reader: Reader, stack: Stack) -> None:
    arabic = "\u0645\u0631\u062d\u0628\u0627"
    table = f"| {arabic} | Python |\n|---|---|\n| {arabic} | 1 |"
    text = f"{arabic} 1.\n\nIn English.\n\n- Python {arabic}\n  - {arabic} `a + {arabic}`\n\n> {arabic}\n\n{table}\n\n1.\n\n```\n{arabic}\n```\n"
    stack.upstream.reply({"text": text})
    reader.send(f"{arabic}?")
    expect(reader.answers).to_have_attribute("aria-busy", "false")
    blocks = reader.answers.locator(".body .markdown > *, .body.markdown > *")
    directions = blocks.evaluate_all(
        "all => all.map(each => [each.nodeName, getComputedStyle(each.querySelector('code, .table') ?? each).direction])"
    )
    assert directions == [
        ["P", "rtl"], ["P", "ltr"], ["UL", "ltr"], ["BLOCKQUOTE", "rtl"], ["DIV", "rtl"], ["OL", "rtl"], ["DIV", "ltr"],
    ]  # fmt: skip
    inner = reader.answers.locator(".body :is(li, li li, table, th, td)")
    sides = inner.evaluate_all("all => all.map(each => getComputedStyle(each).direction)")
    assert set(sides) == {"rtl"}, sides
    first, last = (reader.answers.locator("th").nth(at).bounding_box() for at in (0, 1))
    assert first
    assert last
    assert first["x"] > last["x"]
    expect(reader.page.locator("#title")).to_have_css("direction", "rtl")


def test_a_chat_keeps_its_provisional_name_through_a_reload(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"wait": "the answer"}, {"text": "At noon."}, times=1)
    reader.send("When is high tide?")
    expect(reader.page.locator("#title")).to_have_text("When is high tide?")
    reader.page.reload()
    expect(reader.page.locator("#title")).to_have_text("When is high tide?")
    stack.upstream.release("the answer")
    reader.expect_answer("At noon.")
