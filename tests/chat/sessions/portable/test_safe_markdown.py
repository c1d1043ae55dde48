"""An exported chat is safe to open in a viewer that renders HTML and follows links; harmless Markdown stays as it is."""

import pytest

from chat.sessions.portable.markdown import is_safe_url, safe_line, safe_link, safe_markdown

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    "text",
    [
        "**bold**, `code`, [a](https://example.org/x_(y)), <https://example.org> and a < b",
        "```html\n<script>alert(1)</script>\n```",
        "~~~\n[x](javascript:alert(1))\n~~~",
        "Use `<div>` and `` `x` ``.",
        "1. one\n2. two\n\n> quoted",
        "[mail](mailto:a@example.org) [relative](/x#y) [other](#part)",
        "f(x) = [1, 2](see below)",
    ],
)
def test_harmless_text_is_unchanged(text: str) -> None:
    assert safe_markdown(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        ("<!-- a --> <?php ?>", "&lt;!-- a --> &lt;?php ?>"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("[x]( <JavaScript:alert(1)>)", "[x]\\( &lt;JavaScript:alert(1)>)"),
        ("[x](&#106;avascript&colon;alert(1))", "[x]\\(&#106;avascript&colon;alert(1))"),
        ("[x](java\\script:alert(1))", "[x]\\(java\\script:alert(1))"),
        ("[x](\njavascript:alert(1))", "[x]\\(\njavascript:alert(1))"),
        ("[x]: data:text/html,hi", "[x]\\: data:text/html,hi"),
        ("![x](vbscript:y)", "![x]\\(vbscript:y)"),
        # What looks like code here is none in every viewer.
        ("`\n` <b> `", "`\n` &lt;b> `"),
        ("\\` <b> `", "\\` &lt;b> `"),
        ("| ` | <b> | ` |", "| ` | &lt;b> | ` |"),
        ("- ```\n<b>", "- ```\n&lt;b>"),
        ("```a`b\n<b>", "```a`b\n&lt;b>"),
        ("    ```\n\n<b>", "    ```\n\n&lt;b>"),
        # Fences end where they end for viewers.
        ("```\n<i>\n```\n<b>", "```\n<i>\n```\n&lt;b>"),
        ("````\n```\n<i>", "````\n```\n<i>\n````"),
        ("~~~\n```\n<i>\n~~~\n<b>", "~~~\n```\n<i>\n~~~\n&lt;b>"),
    ],
)
def test_html_and_other_links_mean_nothing(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected


def test_names_and_titles_mean_nothing() -> None:
    assert safe_line("a <b>\n# [x](y) `c`") == "a \\<b\\> # \\[x\\](y) \\`c\\`"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a b>c", "[A](<https://example.org/a%20b%3Ec>)"),
        ("https://example.org/a\u3000b", "[A](<https://example.org/a%E3%80%80b>)"),
        ("javascript:alert(1)", "A"),
        (" java\tscript:alert(1)", "A"),
        ("", "A"),
    ],
)
def test_a_source_is_a_link_only_if_its_address_may_be_one(url: str, expected: str) -> None:
    assert safe_link("A", url) == expected


@pytest.mark.parametrize("url", ["https://a", "HTTP://a", "mailto:x", "/x:y", "#x", "a/b:c"])
def test_addresses_that_may_be_links(url: str) -> None:
    assert is_safe_url(url) is True
