"""What a model writes is untrusted: nothing of it runs, and nothing of it is fetched."""

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

HOSTILE = """
<script>window.caught = 1</script>
<img src=x onerror="window.caught = 2"> <svg onload="window.caught = 3"></svg>
<iframe src="https://stranger.example/frame"></iframe><style>body{display:none}</style>
<a href="https://stranger.example/raw" onclick="window.caught = 4" style="color:red">raw</a>

![pixel](https://stranger.example/pixel.png) ![by reference][far] ![inline](data:image/svg+xml,<svg/>)

[script](javascript:window.caught=5) [encoded](&#106;avascript:window.caught=6) [data](data:text/html,hi)
[vb](vbscript:x) [relative](/admin/) [good](https://stranger.example/good "a title") <me@example.org>

| a | b |
|--:|---|
| <img src=x onerror=window.caught=7> | `<script>` |

- [x] done

[far]: https://stranger.example/far.png
"""


def test_hostile_markdown_does_nothing(reader: Reader, stack: Stack) -> None:
    # Split at every seventh character, so that no single piece looks hostile.
    pieces = [HOSTILE[i : i + 7] for i in range(0, len(HOSTILE), 7)]
    stack.upstream.reply(*({"text": piece} for piece in [*pieces, "\n\nTHE END"]))
    reader.send("Attack me")
    expect(reader.answers.locator(".body")).to_contain_text("THE END")
    body = reader.answers.locator(".body")
    assert reader.page.evaluate("window.caught") is None
    expect(
        body.locator("script, img, svg, iframe, style, [style], [onclick], [onerror], [onload]")
    ).to_have_count(0)
    expect(body).to_contain_text('<img src=x onerror="window.caught = 2">')
    expect(body.locator("td").first).to_have_attribute("align", "right")
    expect(body.locator("input[type=checkbox]")).to_be_disabled()
    links = [(a.inner_text(), a.get_attribute("href")) for a in body.locator("a[href]").all()]
    assert links == [
        ("pixel", "https://stranger.example/pixel.png"),
        ("by reference", "https://stranger.example/far.png"),
        ("good", "https://stranger.example/good"),
        ("me@example.org", "mailto:me@example.org"),
    ]
    for link in body.locator("a[href]").all():
        expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(link).to_have_attribute("target", "_blank")


def test_what_a_user_types_is_shown_as_typed(reader: Reader) -> None:
    reader.send("<b>not bold</b> ![x](https://stranger.example/x.png)")
    expect(reader.questions.locator(".said")).to_have_text(
        "<b>not bold</b> ![x](https://stranger.example/x.png)"
    )
    reader.sees_echo("<b>not bold</b> x")


def test_the_page_allows_no_inline_script_or_style(reader: Reader) -> None:
    answer = reader.page.request.get(f"{reader.base_url}/")
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert " style=" not in answer.text()
