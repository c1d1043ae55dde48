"""Pages of other origins ask the facades with a token, and nothing else of the server."""

import pytest
from playwright.sync_api import Browser

from tests.stack import Stack

pytestmark = pytest.mark.browser
# As openai-node asks in a browser.
ASK = """async ([url, token]) => {
  const answer = await fetch(url + "/v1/chat/completions", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`, "Content-Type": "application/json",
      "X-Stainless-Lang": "js", "X-Stainless-Retry-Count": "0",
    },
    body: JSON.stringify({ model: "alpha", stream: true, messages: [{ role: "user", content: "Why?" }] }),
  });
  return [answer.status, Boolean(answer.headers.get("X-Request-ID")), await answer.text()];
}"""
READ = "async (url) => fetch(url, { credentials: 'include' }).then((answer) => answer.status, (error) => error.name)"


def test_a_page_of_another_origin_asks_with_a_token_but_not_as_who_is_logged_in(
    browser: Browser, stack: Stack
) -> None:
    token = stack.create_token("alice")
    stack.upstream.reply({"text": "Two tides."})
    page = browser.new_page()
    try:
        page.goto(stack.upstream.base_url)  # whatever it answers, with a port of its own
        status, has_id, events = page.evaluate(ASK, [stack.base_url, token])
        assert (status, has_id) == (200, True)
        assert "Two" in events
        assert events.rstrip().endswith("data: [DONE]")
        own = ("/api/sessions/", "/api/auth/user/", "/v1/models")
        assert [page.evaluate(READ, stack.base_url + path) for path in own] == ["TypeError"] * 3
    finally:
        page.close()
