"""Files as a user drops or pastes them, and the cards that the page shows of them."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, Route, expect

UPLOADS = re.compile(r"/api/files/$")

# Dispatches the events of a drag that ends with a drop, or of a paste, of files given as [name, type, base64].
_FILES = """const data = new DataTransfer();
    for (const [name, type, content] of files) {
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
    }"""
DRAG = f"""(place, [files, ...kinds]) => {{
    {_FILES}
    const options = {{ dataTransfer: data, bubbles: true, cancelable: true }};
    return kinds.map((kind) => !place.dispatchEvent(new DragEvent(kind, options)));
}}"""
PASTE = f"""(field, files) => {{
    {_FILES}
    return !field.dispatchEvent(new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }}));
}}"""

Content = tuple[str, str, bytes]
"""Name, type as the browser guesses it, content."""


def encoded(files: tuple[Content, ...]) -> list[list[str]]:
    return [[name, kind, base64.b64encode(content).decode()] for name, kind, content in files]


def drop(page: Page, *files: Content) -> None:
    drop_on(page.locator("#conversation"), *files)


def drop_on(place: Locator, *files: Content) -> None:
    handled = place.evaluate(DRAG, [encoded(files), "dragover", "drop"])
    assert handled == [True, True], "the browser would leave the page for the file"


def paste(field: Locator, *files: Content) -> None:
    assert field.evaluate(PASTE, encoded(files)), "the browser would paste it itself"


def cards(page: Page) -> Locator:
    return page.locator("#composer .file-card")


def expect_state(page: Page, name: str, state: str) -> Locator:
    """Wait for the card of this file in the composer to have this state; returns it."""
    card = cards(page).filter(has_text=name)
    expect(card).to_have_attribute("data-state", state)
    return card


@contextmanager
def held_uploads(page: Page) -> Iterator[list[Route]]:
    """The server does not answer uploads until the block ends."""
    held: list[Route] = []
    page.route(
        UPLOADS, lambda route: held.append(route) if route.request.method == "POST" else route.fallback()
    )
    yield held
    page.unroute(UPLOADS)  # continues what is held
