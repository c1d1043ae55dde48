"""The dialog that sets the tools, the prompt and the run options of a chat, or of its next message."""

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_turn import compose
from tests.screenshots.scenes import POST
from tests.stack import Stack

pytestmark = pytest.mark.browser

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def opened(reader: Reader) -> Locator:
    reader.page.locator("#options").click()
    dialog = reader.page.get_by_role("dialog", name="Options")
    expect(dialog).to_be_visible()
    return dialog


def save(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)


def asked(reader: Reader, stack: Stack, text: str, *, index: int) -> dict[str, Any]:
    """The members of the request of a new message."""
    reader.send(text)
    reader.expect_echo(text, index=index)
    (body,) = [
        each.body for each in stack.upstream.requests if text in json.dumps(each.body["messages"][-3:])
    ]
    return body


def test_a_new_chat_has_the_options_that_were_set_before_its_first_message(
    reader: Reader, stack: Stack
) -> None:
    dialog = opened(reader)
    dialog.get_by_label("Temperature").fill("0.25")
    dialog.get_by_label("Stop at").fill("Human:\n\\n\\nEnd\n")
    dialog.get_by_label("Reasoning").select_option("low")
    dialog.get_by_label("Prompt").fill("Answer like a lighthouse keeper.")
    dialog.get_by_label("Date and time").check()
    save(dialog)
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options: set for this chat")
    body = asked(reader, stack, "How far is the sea?", index=0)
    assert body["temperature"] == 0.25
    assert body["stop"] == ["Human:", "\n\nEnd"]
    assert body["reasoning_effort"] == "low"
    assert "lighthouse keeper" in json.dumps(body["messages"])
    assert [tool["function"]["name"] for tool in body["tools"]] == ["current_time"]
    expect(reader.page.locator("#tool")).to_be_visible()
    reader.page.reload()
    dialog = opened(reader)
    expect(dialog.get_by_label("Temperature")).to_have_value("0.25")
    expect(dialog.get_by_label("Stop at")).to_have_value("Human:\n\\n\\nEnd")
    expect(dialog.get_by_label("Prompt")).to_have_value("Answer like a lighthouse keeper.")
    expect(dialog.get_by_label("Date and time")).to_be_checked()


def test_options_of_the_next_message_hold_for_it_alone(reader: Reader, stack: Stack) -> None:
    dialog = opened(reader)
    dialog.get_by_label("Temperature").fill("1.5")
    dialog.get_by_label("Top P").fill("0.5")
    save(dialog)
    assert asked(reader, stack, "The first question", index=0)["temperature"] == 1.5
    dialog = opened(reader)
    dialog.get_by_label("Only the next message").check()
    expect(dialog.get_by_label("Prompt")).to_be_hidden()
    dialog.get_by_label("Temperature").fill("0")
    dialog.get_by_label("Top P").fill("")
    save(dialog)
    expect(reader.page.locator("#options")).to_have_attribute(
        "aria-label", "Options: set for the next message"
    )
    body = asked(reader, stack, "The second question", index=1)
    assert body["temperature"] == 0
    assert "top_p" not in body
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options: set for this chat")
    body = asked(reader, stack, "The third question", index=2)
    assert (body["temperature"], body["top_p"]) == (1.5, 0.5)


def test_options_of_the_first_message_alone_are_not_those_of_its_chat(reader: Reader, stack: Stack) -> None:
    dialog = opened(reader)
    dialog.get_by_label("Only the next message").check()
    dialog.get_by_label("Seed").fill("4")
    save(dialog)
    assert asked(reader, stack, "With a seed", index=0)["seed"] == 4
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options")
    assert "seed" not in asked(reader, stack, "Without one", index=1)


def test_options_are_taken_back_all_at_once(reader: Reader, stack: Stack) -> None:
    dialog = opened(reader)
    dialog.get_by_label("Longest answer").fill("77")
    dialog.get_by_label("Seed").fill("-5")
    dialog.get_by_label("Several tools at once").select_option("No")
    save(dialog)
    body = asked(reader, stack, "What was set?", index=0)
    assert (body["max_tokens"] if "max_tokens" in body else body["max_completion_tokens"], body["seed"]) == (
        77,
        -5,
    )
    dialog = opened(reader)
    dialog.get_by_role("button", name="own values").click()
    save(dialog)
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options")
    assert "seed" not in asked(reader, stack, "And now?", index=1)


def test_a_format_by_a_schema_is_sent_and_a_text_that_is_none_is_said_at_its_field(
    reader: Reader, stack: Stack
) -> None:
    dialog = opened(reader)
    schema = dialog.get_by_label("JSON Schema")
    expect(schema).to_be_hidden()
    dialog.get_by_label("Format of the answer").select_option("JSON by a schema")
    schema.fill("{nothing")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").filter(has_text="no JSON Schema")).to_be_visible()
    expect(schema).to_be_focused()
    schema.fill(json.dumps(SCHEMA))
    save(dialog)
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert asked(reader, stack, "Where is it?", index=0)["response_format"] == wanted


def test_a_number_that_no_model_takes_is_refused_in_the_dialog(reader: Reader) -> None:
    dialog = opened(reader)
    dialog.get_by_label("Temperature").fill("3")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_visible()
    assert not dialog.get_by_label("Temperature").evaluate("control => control.validity.valid")


def test_what_another_tab_saves_is_shown_in_this_one(reader: Reader, stack: Stack) -> None:
    reader.send("Hello tabs")
    reader.expect_echo("Hello tabs")
    other = reader.second_tab()
    other.locator("#options").click()
    other.get_by_label("Web search").check()
    other.get_by_label("Seed").fill("9")
    other.get_by_role("button", name="Save").click()
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options: set for this chat")
    expect(reader.page.locator("#tool")).to_be_visible()
    expect(opened(reader).get_by_label("Seed")).to_have_value("9")


def test_what_another_tab_takes_back_is_no_longer_shown_as_set(reader: Reader) -> None:
    reader.send("Hello tabs")
    reader.expect_echo("Hello tabs")
    dialog = opened(reader)
    dialog.get_by_label("Seed").fill("9")
    save(dialog)
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options: set for this chat")
    other = reader.second_tab()
    other.locator("#options").click()
    other.get_by_role("button", name="own values").click()
    other.get_by_role("button", name="Save").click()
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options")


@pytest.mark.parametrize("window", ["reader", "caller"])
def test_the_dialog_is_accessible_and_fits_the_window(window: str, request: pytest.FixtureRequest) -> None:
    page = request.getfixturevalue(window).page
    dialog = opened(request.getfixturevalue(window))
    dialog.get_by_label("Format of the answer").select_option("JSON by a schema")
    assert violations_in_both_themes(page) == []
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")


def test_an_agent_is_picked_by_its_name_behind_an_at(reader: Reader, stack: Stack) -> None:
    for name in ("Harbour pilot", "Poet"):
        reader.page.evaluate(POST, ["agents/", {"name": name, "prompt": f"You are the {name}."}])
    reader.page.reload()
    reader.wait_until_ready()
    agents = reader.page.get_by_role("listbox", name="Agents").get_by_role("option")
    expect(reader.page.locator("#agents label")).to_have_count(3 + others(reader))
    reader.field.press_sequentially("@p")
    expect(agents.first).to_have_text("Poet")
    expect(agents.filter(has_text="Harbour pilot")).to_have_attribute("aria-selected", "false")
    assert violations_in_both_themes(reader.page) == []
    reader.field.press("Escape")
    expect(agents).to_have_count(0)
    expect(reader.field).to_have_value("@p")
    reader.field.press_sequentially("oet")
    compose(reader.field)
    expect(agents).to_have_count(1)
    reader.field.press("Enter")
    expect(agents).to_have_count(0)
    expect(reader.field).to_have_value("")
    expect(reader.page.locator("#agents summary")).to_have_attribute("aria-label", "Agent: Poet")
    body = asked(reader, stack, "mail@example.org is no agent", index=0)
    assert "You are the Poet." in json.dumps(body["messages"])


def others(reader: Reader) -> int:
    """How many agents earlier tests have left."""
    rows = reader.page.evaluate("async () => (await (await fetch('/api/agents/')).json())")
    return len(rows) - 2
