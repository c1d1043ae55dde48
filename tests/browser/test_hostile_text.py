"""A model's text is untrusted: nothing in it is executed or fetched."""

import base64

import pytest
from playwright.sync_api import Request, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.hostile import CORPUS, EVERYTHING, FAR
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

POLITE = f"""
<b>raw</b> ![pixel]({FAR}/pixel.png) ![by reference][far] [script](javascript:x) [relative](/admin/)
[good]({FAR}/good "a title") <me@example.org>

| a | b |
|--:|---|
| 1 | `<script>` |

- [x] done

[far]: {FAR}/far.png
"""

# Everything a rendered text may consist of; what is not here is a hole.
ELEMENTS = """
    a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i input kbd li ol p path pre s span strong sub sup svg
    table tbody td th thead tr ul
    math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtext
    mtr munder munderover
"""
ATTRIBUTES = """
    accent align aria-hidden aria-label aria-pressed checked class d depth disabled display displaystyle fence form height href
    linethickness lspace mathbackground mathcolor maxsize minsize movablelimits notation rel role rspace scriptlevel separator
    dir start stretchy style symmetric tabindex target title type viewBox voffset width
"""

# Renders each text after every character (long ones after some), as if every packet were one character long. Returns
# what should not be there.
RENDER = """async ({corpus, allowed}) => {
  const { MarkdownView } = await import("/static/chat/markdown/markdown.js");
  const { loadHighlighter } = await import("/static/chat/markdown/code_lines.js");
  await Promise.all([loadHighlighter(), import("temml")]);
  const found = [];
  document.addEventListener("securitypolicyviolation", ({ blockedURI }) => found.push(`policy: ${blockedURI}`));
  const check = (name, element) => {
    for (const { localName, attributes } of element.querySelectorAll("*")) {
      if (!allowed.elements.includes(localName)) found.push(`${name}: <${localName}>`);
      for (const { name: attribute, value } of attributes) {
        if (!allowed.attributes.includes(attribute)) found.push(`${name}: ${attribute}=${value}`);
        if (attribute === "href" && !/^(https?:|mailto:)/i.test(value)) found.push(`${name}: ${value}`);
        if (attribute === "style" && /url|expression|position|inset/i.test(value)) found.push(`${name}: ${value}`);
      }
    }
  };
  for (const [name, text] of Object.entries(corpus)) {
    const element = document.createElement("div");
    document.querySelector("#scroller").append(element);
    const view = new MarkdownView(element, { citation: () => document.createElement("button") });
    const citations = [{ number: 1, document_id: "d", title: "T" }];
    const step = text.length > 1000 ? 97 : 1;
    for (let end = step; end < text.length; end += step) {
      view.show(text.slice(0, end), { isLive: true, citations });
      check(name, element);
    }
    view.show(text, { citations });
    check(name, element);
    await new Promise(requestAnimationFrame);
    element.remove();
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  return [...new Set(found)];
}"""


@pytest.mark.core
def test_nothing_of_the_corpus_runs_or_loads_wherever_it_is_cut(reader: Reader) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    reader.page.evaluate("import('temml')")
    reader.page.evaluate("import('highlight')")
    reader.page.on("request", note)
    allowed = {"elements": ELEMENTS.split(), "attributes": ATTRIBUTES.split()}
    assert reader.page.evaluate(RENDER, {"corpus": CORPUS, "allowed": allowed}) == []
    assert reader.page.evaluate("window.caught") is None
    reader.page.remove_listener("request", note)
    ours = ("/static/chat/", "/static/vendor/", "/static/bundle/", "/api/", "/ws/")
    assert [url for url in asked if not url.removeprefix(reader.base_url).startswith(ours)] == []
    assert not any("/admin" in url or url.endswith("/api/sessions/#") for url in asked)


@pytest.mark.core
def test_hostile_markdown_of_a_model_does_nothing(reader: Reader, stack: Stack) -> None:
    pieces = [EVERYTHING[i : i + 7] for i in range(0, len(EVERYTHING), 7)]
    stack.upstream.reply(*({"text": piece} for piece in [*pieces, "\n\nTHE END"]))
    reader.send("Attack me")
    body = reader.answers.locator(".body")
    expect(body).to_contain_text("THE END")
    expect(reader.answers).to_have_attribute("aria-busy", "false")
    assert reader.page.evaluate("window.caught") is None
    expect(
        body.locator("script, img, iframe, style, form, object, [onclick], [onerror], [onload]")
    ).to_have_count(0)
    expect(body).to_contain_text('<img src=x onerror="window.caught = 3">')
    for link in body.locator("a[href]").all():
        assert (link.get_attribute("href") or "").startswith((FAR, "mailto:"))


def test_what_is_harmless_is_shown(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": POLITE})
    reader.send("Be polite")
    body = reader.answers.locator(".body")
    expect(body.locator("td").first).to_have_attribute("align", "right")
    expect(body).to_contain_text("<b>raw</b>")
    expect(body.locator("input[type=checkbox]")).to_be_disabled()
    expect(body.locator("input[type=checkbox]")).to_have_accessible_name("Done")
    links = [(a.inner_text(), a.get_attribute("href")) for a in body.locator("a[href]").all()]
    assert links == [
        ("pixel", f"{FAR}/pixel.png"),
        ("by reference", f"{FAR}/far.png"),
        ("good", f"{FAR}/good"),
        ("me@example.org", "mailto:me@example.org"),
    ]
    for link in body.locator("a[href]").all():
        expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(link).to_have_attribute("target", "_blank")


TYPED = f"""First **line**
    second, _deeper_
<b>not bold</b> ![x]({FAR}/x.png)

שלום (Haifa)!

```python
print("a line that is wider than a phone, and is scrolled in its own frame, not in the page", 1)
```"""


def test_a_question_is_rendered_as_safely_as_an_answer_and_edited_and_copied_as_typed(caller: Reader) -> None:
    caller.field.fill("שלום (Haifa)!")
    expect(caller.field).to_have_css("direction", "rtl")
    caller.context.grant_permissions(["clipboard-read", "clipboard-write"])
    caller.send(TYPED)
    caller.expect_echo("First line")
    question = caller.questions.locator(".question-text")
    first = question.locator("p").first
    expect(first).to_have_text("First line\n    second, deeper\n<b>not bold</b> x", use_inner_text=True)
    expect(question.locator("strong")).to_have_text("line")
    expect(question.locator("img, b")).to_have_count(0)
    expect(question.locator(".code .string")).to_contain_text("a line")
    assert caller.page.locator("#scroller").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert violations_in_both_themes(caller.page) == []
    caller.questions.get_by_role("button", name="Copy", exact=True).click()
    expect(caller.questions.get_by_role("button", name="Copied")).to_be_visible()
    assert caller.page.evaluate("navigator.clipboard.readText()") == TYPED
    caller.questions.get_by_role("button", name="Edit").click()
    expect(caller.questions.locator("textarea")).to_have_value(TYPED)
    # Material that was pasted is not rendered.
    caller.questions.get_by_role("button", name="Cancel").click()
    caller.send("**Much** of it. " + "word " * 5_000)
    much = caller.questions.nth(1)
    expect(much.locator(".question-text.plain")).to_contain_text("**Much** of it.")
    folded = much.evaluate("e => e.clientHeight")
    assert folded < 600
    much.get_by_role("button", name="Show more").tap()
    assert much.evaluate("e => e.clientHeight") > 2 * folded
    much.get_by_role("button", name="Show less").tap()
    assert much.evaluate("e => e.clientHeight") == folded
    expect(much).to_be_in_viewport()


PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)


def test_a_picture_of_an_answer_is_loaded_if_it_is_a_file_of_the_reader(reader: Reader, stack: Stack) -> None:
    (token,) = [each["value"] for each in reader.context.cookies() if each["name"] == "csrftoken"]
    sent = reader.page.request.post(
        f"{reader.base_url}/api/files/",
        headers={"X-CSRFToken": token, "Referer": f"{reader.base_url}/"},
        multipart={"file": {"name": "dot.png", "mimeType": "image/png", "buffer": PICTURE}},
    )
    assert sent.status == 201, sent.text()
    path = f"/api/files/{sent.json()['id']}/content/"
    stack.upstream.reply({"text": f"![A dot]({path}) ![Far]({FAR}/x.png) ![Host](//stranger.example{path})"})
    reader.send("Draw a dot")
    body = reader.answers.locator(".body")
    expect(body.locator("img")).to_have_count(1)
    expect(body.get_by_role("img", name="A dot")).to_have_js_property("naturalWidth", 1)
    expect(body.locator("a")).to_have_text(["Far", "Host"])


def test_the_page_allows_no_inline_script_or_style(reader: Reader) -> None:
    answer = reader.page.request.get(f"{reader.base_url}/")
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    # Also after a redirect.
    assert "img-src 'self' data:;" in f"{policy};"
    assert " style=" not in answer.text()
