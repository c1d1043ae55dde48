"""With PREVIEW_ORIGIN, previews come from another host of the same server, which serves nothing else."""

import time
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from config.embedded import find_suitable_port
from tests.browser.launching import SECOND_NAME
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser
READY_S = 60
ANSWER = """```mermaid
flowchart TD
    A --> B
```

```html
<p id=says></p><script>says.textContent = self.origin + " " + location.origin</script>
```
"""


@pytest.fixture
def port(stack: Stack) -> Iterator[int]:
    """Of a second web process, with an origin for previews."""
    port = find_suitable_port("127.0.0.1")
    stack.start("web", "web2", {"PORT": str(port), "PREVIEW_ORIGIN": f"http://{SECOND_NAME}:{port}"})
    limit = time.monotonic() + READY_S
    while True:
        try:
            httpx2.get(f"http://127.0.0.1:{port}/health/live", timeout=5, trust_env=False)
            break
        except httpx2.TransportError:
            assert time.monotonic() < limit, stack.log("web2")
            time.sleep(0.05)
    yield port
    stack.end("web2")


def test_previews_are_shown_from_there(browser: Browser, stack: Stack, port: int) -> None:
    with Reader.at(browser, f"http://127.0.0.1:{port}") as reader:
        answers: list[tuple[str, bool]] = []
        reader.page.on(
            "response", lambda response: answers.append((response.url, "set-cookie" in response.headers))
        )
        reader.log_in_by_cookie("alice")
        stack.upstream.reply({"text": ANSWER})
        reader.send("Show it")
        shown = reader.answers.last
        expect(shown.locator(".diagram img.of-light")).to_be_visible()
        shown.locator(".code").nth(1).get_by_role("button", name="Preview").click()
        says = reader.page.frame_locator(".preview-panel iframe").locator("#says")
        expect(says).to_have_text(f"null http://{SECOND_NAME}:{port}")
        of_previews = [each for each in answers if SECOND_NAME in each[0]]
        assert {url.partition(str(port))[2].partition("?")[0] for url, _ in of_previews} >= {
            "/preview/html/",
            "/preview/diagram/",
        }
        assert all("/preview/" in url and not sets_cookie for url, sets_cookie in of_previews)
        # A policy that the browser ignores without TLS, of all documents.
        assert [each for each in reader.errors if "Cross-Origin-Opener-Policy" not in each] == []


def test_there_is_nothing_else_at_that_host(stack: Stack, port: int) -> None:
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{port}", headers={"Host": SECOND_NAME}, trust_env=False
    ) as there:
        for path in (
            "/",
            "/api/sessions/",
            "/api/auth/token/",
            "/login/",
            "/admin/",
            "/health/ready",
            "/static/chat/base.css",
        ):
            answer = there.get(path)
            assert answer.status_code == 404
            assert "set-cookie" not in answer.headers
        assert (
            there.post("/api/auth/token/", json={"username": "alice", "password": "alice"}).status_code == 404
        )
        document = there.get("/preview/html/")
        assert document.status_code == 200
        assert "set-cookie" not in document.headers
        assert "frame-ancestors 127.0.0.1:* localhost:*" in document.headers["content-security-policy"]
