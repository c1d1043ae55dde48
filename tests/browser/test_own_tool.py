"""A tool is one folder: its card and its run. All else follows from them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.browser.test_agent_options import form_of
from tests.browser.test_tools import with_tools
from tests.stack import Stack, constants
from tests.tool_fixtures import streamed_call

pytestmark = pytest.mark.browser

CARD = """
from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="roll_dice",
    label="Dice",
    about="Rolls dice for games.",
    icon="agent",
    doing=["Rolling %(sides)s sides", "Rolling dice"],
    done=["Rolled %(sides)s sides", "Rolled dice"],
    failed=["Could not roll dice"],
    shows=["game"],
)
"""
TOOL = """
from llm_worker.tools.roll_dice import CARD
from llm_worker.tools.tool import Tool, ToolResult


class RollDice(Tool):
    name = CARD.name
    description = "Rolls a dice."
    guidance = "Call `roll_dice` for games."
    parameters = {"type": "object", "properties": {"game": {"type": "string"}, "sides": {"type": "string"}}}

    async def run(self, arguments, work):
        return ToolResult(f"A four, of {arguments['sides']}.")


TOOL = RollDice()
"""


@pytest.fixture
def dice(stack: Stack, tmp_path: Path) -> Iterator[None]:
    """The web server and the worker, with a tool more: its folder, and its line in the settings."""
    folder = tmp_path / "house_rules"
    folder.mkdir()
    (folder / "__init__.py").write_text(CARD)
    (folder / "tool.py").write_text(TOOL.replace("llm_worker.tools.roll_dice", "house_rules"))
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {"PYTHONPATH": paths, **constants(TOOLS=[*settings.TOOLS, "house_rules"])}
    for name in ("web", "llm"):
        stack.end(name)
        stack.start(name, environment=environment)
    stack.wait_until_ready()
    yield
    for name in ("web", "llm"):
        stack.end(name)
    stack.mend()


def test_a_tool_of_one_folder_is_offered_called_and_shown_in_its_words(
    dice: None, stack: Stack, reader: Reader
) -> None:
    with_tools(reader, "roll_dice")
    choice = form_of(reader, "roll_dice").get_by_role("group", name="Tools", exact=True)
    box = choice.get_by_label("Dice")
    expect(box).to_be_checked()
    expect(box).to_have_accessible_description("Rolls dice for games.")
    reader.page.reload()
    reader.wait_until_ready()
    stack.upstream.reply(*streamed_call("roll_dice", '{"game": "ludo", "sides": "six"}'), times=1)
    stack.upstream.reply({"text": "Four."})
    reader.send("Roll for me.")
    reader.expect_answer("Four.")
    for _ in range(2):
        expect(reader.answers.locator(".steps .line")).to_contain_text("Rolled six sides")
        reader.answers.locator(".steps > summary").click()
        expect(reader.answers.locator(".tool .hint")).to_have_text("ludo")
        expect(reader.answers.locator(".tool .output")).to_have_text("A four, of six.")
        reader.page.reload()
        reader.expect_answer("Four.")
