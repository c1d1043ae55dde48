"""The reference of an answer that failed: staff follow it to the page of the run, others tell it to staff."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser


def test_the_reference_in_an_error_is_a_link_for_staff_alone(
    windows: Windows, stack: Stack, reader: Reader
) -> None:
    stack.upstream.reply({"status": 401}, contains="pasta")
    with windows.borrowed("root") as root:
        for one in (reader, root):
            one.send("How long does pasta take?")
            expect(one.answers.last.locator(".problem")).to_contain_text("Reference")
        expect(reader.answers.last.locator(".problem a")).to_have_count(0)
        assert violations_in_both_themes(root.page) == []
        root.answers.last.get_by_role("link", name="Reference").click()
        content = root.page.locator("#content")
        expect(content).to_contain_text("Failed: The model server refused the credentials.")
        expect(content).to_contain_text(f"{stack.upstream.base_url}/chat/completions")
        assert root.errors == []
