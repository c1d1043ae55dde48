"""Providers on the page: staff add one, and everybody asks its models, while no process is started anew."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.windows import Windows
from tests.stack import Stack
from tests.upstream import Upstream

pytestmark = pytest.mark.browser

KEY = "sk-key-of-the-second-987654"
PHONE = {"viewport": {"width": 360, "height": 780}}
SHOTS = ""
DELETED = """
    UPDATE chat_run SET model_config_id = NULL WHERE model_config_id IN (SELECT id FROM chat_modelconfig WHERE provider_id IS NOT NULL);
    DELETE FROM chat_modelconfig WHERE provider_id IS NOT NULL;
    DELETE FROM chat_provider;"""


@pytest.fixture
def second() -> Iterator[Upstream]:
    with Upstream() as server:
        server.api_key = KEY
        server.models = ["harbour-large", "harbour-small"]
        server.reply({"text": "High tide is at noon."})
        server.reply({"text": "Hi"}, stream=False)
        yield server


@pytest.fixture
def clean(stack: Stack) -> Iterator[None]:
    """Other tests expect the models of the stack alone."""
    yield
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        connection.execute(DELETED)


@pytest.fixture
def without_models(stack: Stack, clean: None) -> Iterator[None]:
    """As after a start without LLM_BASE_URL and without the demo."""
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE chat_modelconfig SET enabled = false")
        yield
        connection.execute("UPDATE chat_modelconfig SET enabled = true WHERE provider_id IS NULL")
        # The provider's had become the default.
        connection.execute("UPDATE chat_modelconfig SET is_default = false")
        connection.execute("UPDATE chat_modelconfig SET is_default = true WHERE name = 'alpha'")


@pytest.fixture
def demo_alone(stack: Stack, clean: None) -> Iterator[None]:
    """As after a start without LLM_BASE_URL: the models of the environment are the demo's."""
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE chat_modelconfig SET is_demo = true")
        yield
        connection.execute(
            "UPDATE chat_modelconfig SET is_demo = false, enabled = true, is_default = false WHERE provider_id IS NULL"
        )
        connection.execute("UPDATE chat_modelconfig SET is_default = (name = 'alpha')")


def dialog_of(reader: Reader) -> Locator:
    if reader.page.locator("#sidebar-toggle[aria-expanded=false]").is_visible():
        reader.page.locator("#sidebar-toggle").click()
    reader.page.locator("#account").click()
    reader.page.get_by_role("menuitem", name="Model providers").click()
    return reader.page.get_by_role("dialog", name="Model providers")


def row_of(dialog: Locator, name: str) -> Locator:
    return dialog.locator("button.whole", has_text=name)


def enter(reader: Reader, address: str, key: str = KEY, name: str = "Harbour") -> None:
    form = reader.page.get_by_role("dialog").last
    form.get_by_label("Name").fill(name)
    form.get_by_label("Address").fill(address)
    form.get_by_label("API key").fill(key)
    form.get_by_role("button", name="Save").click()


def enter_limits(root: Reader, dialog: Locator) -> None:
    dialog.get_by_role("button", name="Settings of harbour-large").click()
    form = root.page.get_by_role("dialog").last
    form.get_by_label("Context window in tokens").fill("32000")
    form.get_by_label("Price of prompts").fill("2,5")
    form.get_by_label("Price of answers").fill("10")
    assert violations_in_both_themes(root.page) == []
    form.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("32,000 tokens · 2.5 / 10 per million")
    assert violations_in_both_themes(root.page) == []


@pytest.mark.core
def test_staff_add_a_provider_and_everybody_asks_its_model_without_a_restart(
    windows: Windows, stack: Stack, second: Upstream, clean: None, reader: Reader
) -> None:
    with windows.borrowed("root") as root:
        dialog = dialog_of(root)
        expect(row_of(dialog, "Server of the environment")).to_be_visible()
        dialog.get_by_role("button", name="Add a model provider").click()
        assert violations_in_both_themes(root.page) == []
        enter(root, second.base_url)

        expect(dialog.get_by_role("status")).to_contain_text("The server has 2 models.")
        large = dialog.get_by_role("checkbox", name="harbour-large")
        large.check()
        expect(dialog.get_by_role("button", name="Settings of harbour-large")).to_be_visible()
        dialog.get_by_role("button", name="Test").click()
        expect(dialog.get_by_role("status")).to_contain_text("harbour-large answered in")

        enter_limits(root, dialog)
        root.page.keyboard.press("Escape")
        expect(row_of(dialog, "Harbour")).to_contain_text("one model offered")

        # alice's page was open all the time.
        reader.pick("harbour-large")
        reader.send("When is high tide?")
        expect(reader.page.get_by_text("High tide is at noon.", exact=True)).to_be_visible()
        assert second.requests[-1].headers["Authorization"] == f"Bearer {KEY}"

        dialog.get_by_role("button", name="Delete Harbour").click()
        root.page.get_by_role("dialog").last.get_by_role("button", name="Delete", exact=True).click()
        expect(row_of(dialog, "Harbour")).to_have_count(0)
        reader.page.locator("#models summary").click()
        expect(reader.page.locator("#models")).to_contain_text("No longer offered: harbour-large")


def test_a_wrong_key_and_a_wrong_address_are_said_in_words(
    windows: Windows, stack: Stack, second: Upstream, clean: None
) -> None:
    with windows.borrowed("root", **PHONE) as root:
        dialog = dialog_of(root)
        dialog.get_by_role("button", name="Add a model provider").click()
        enter(root, "http://169.254.169.254/v1")
        expect(root.page.get_by_role("dialog").last).to_contain_text("belongs to no model server")
        enter(root, second.base_url, key="wrong-key-123")
        expect(dialog.get_by_role("status")).to_contain_text("refuses the key")
        assert violations_in_both_themes(root.page) == []
        assert root.page.evaluate(STICKING_OUT) == []
        dialog.get_by_role("button", name="Edit").click()
        form = root.page.get_by_role("dialog").last
        form.get_by_label("Address").fill("http://127.0.0.1:9/v1")
        form.get_by_role("button", name="Save").click()
        expect(form).to_contain_text("Enter the key again")
        assert root.page.evaluate(STICKING_OUT) == []
        form.get_by_label("API key").fill(KEY)
        form.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("status")).to_contain_text("There is no connection to the server")
        dialog.get_by_role("checkbox", name="Enabled").uncheck()
        dialog.get_by_role("button", name="All providers").click()
        expect(row_of(dialog, "Harbour")).to_contain_text("disabled")
        assert root.page.evaluate(STICKING_OUT) == []


def test_who_is_not_staff_has_no_entry(reader: Reader) -> None:
    reader.page.locator("#account").click()
    expect(reader.page.get_by_role("menuitem", name="Settings")).to_be_visible()
    expect(reader.page.get_by_role("menuitem", name="Model providers")).to_have_count(0)


def test_a_page_without_models_says_so_until_staff_have_added_one(
    windows: Windows, stack: Stack, second: Upstream, without_models: None
) -> None:
    with windows.borrowed("bob") as bob, windows.borrowed("root", **PHONE) as root:
        expect(bob.page.locator("#no-models")).to_contain_text("Whoever runs this server has to add one")
        assert violations_in_both_themes(bob.page) == []
        assert violations_in_both_themes(root.page) == []
        assert root.page.evaluate(STICKING_OUT) == []
        root.page.locator("#no-models").get_by_role("button", name="Add a model provider").click()
        dialog = root.page.get_by_role("dialog", name="Model providers")
        enter(root, second.base_url)
        dialog.get_by_role("checkbox", name="harbour-small").check()
        expect(bob.page.locator("#no-models")).to_be_hidden()
        bob.expect_picked("harbour-small")
        bob.send("When is high tide?")
        expect(bob.page.get_by_text("High tide is at noon.", exact=True)).to_be_visible()


def test_the_demo_leaves_pages_that_are_open_with_the_first_model_and_is_back_without_one(
    windows: Windows, stack: Stack, second: Upstream, demo_alone: None
) -> None:
    with windows.borrowed("bob") as bob, windows.borrowed("root") as root:
        names, notice = bob.page.locator("#models .row button"), bob.page.locator("#demo-notice")
        for page in (bob.page, root.page):
            page.reload()
            expect(page.locator("#demo-notice")).to_be_visible()
        bob.pick("beta")
        dialog = dialog_of(root)
        dialog.get_by_role("button", name="Add a model provider").click()
        enter(root, second.base_url)
        dialog.get_by_role("checkbox", name="harbour-large").check()

        bob.expect_picked("harbour-large")
        expect(names).to_have_text(["harbour-large"])
        expect(notice).to_be_hidden()
        expect(root.page.locator("#models .row button")).to_have_text(["harbour-large"])
        bob.send("When is high tide?")
        expect(bob.page.get_by_text("High tide is at noon.", exact=True)).to_be_visible()

        dialog.get_by_role("button", name="All providers").click()
        dialog.get_by_role("button", name="Delete Harbour").click()
        root.page.get_by_role("dialog").last.get_by_role("button", name="Delete", exact=True).click()
        expect(names.first).to_have_text("alpha")
        expect(notice).to_be_visible()
        assert (bob.errors, root.errors) == ([], [])
