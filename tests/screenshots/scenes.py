"""The actions before each screenshot. A scene leaves the page in the state to be shown."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.screenshots import texts
from tests.stack import Stack

POST = """async ([path, body]) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    return (await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}"""


# On a phone the timeline stays folded: there the picture is of the answer.
ROOMY_PX = 600
# Resolves when a run's end is announced: before, a reply to its answer is refused.
ANNOUNCED = """async (id) => {
    while (!(await (await fetch(`/api/runs/${id}/`)).json()).announced_at) await new Promise((again) => setTimeout(again, 100));
}"""


class World:
    """alice's chats, made once by the API; scenes open them."""

    def __init__(self, stack: Stack, page: Page) -> None:
        self.stack = stack
        self.page = page
        agents = [self.post("agents/", agent) for agent in reversed(texts.AGENTS)]
        for title in texts.OLDER_CHATS:
            self.post("sessions/", {"title": title})
        self.branching = self.post("sessions/", {"title": "Route around Iceland"})["id"]
        self.compared = self.post("sessions/", {"title": "Why the sky is blue"})["id"]
        self.tools = self.post("sessions/", {"title": "Walk to the Hallig", "agent": agents[-1]["id"]})["id"]
        self.lighthouse = self.post("sessions/", {"title": "View from a lighthouse"})["id"]

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.page.evaluate(POST, [path, body])

    def talk(self) -> None:
        """Create all chats of the screenshots."""
        self.tell_lighthouse()
        self.tell_compared()
        self.tell_tools()
        self.tell_route()
        self.base = self.stack.manage(
            "shell", "-c", "from tests.screenshots.knowledge import add_bases; add_bases()"
        ).split()[-1]

    def ask(self, session: str, text: str, **more: Any) -> dict[str, Any]:
        """Wait until the answers are complete and announced: before, a reply with a parent is refused."""
        started = self.post(f"sessions/{session}/turns/", {"text": text, **more})
        for run in started["runs"]:
            self.page.evaluate(ANNOUNCED, run["id"])
        return started

    def tell_lighthouse(self) -> None:
        self.stack.upstream.reply(
            {"reasoning": texts.REASONING}, {"text": texts.ANSWER}, contains="lighthouse"
        )
        self.ask(self.lighthouse, texts.QUESTION)

    def tell_compared(self) -> None:
        for model, text in texts.COMPARED.items():
            self.stack.upstream.reply({"text": text}, model=model, contains="ten-year-old")
        self.ask(self.compared, texts.COMPARED_QUESTION, models=list(texts.COMPARED))

    def tell_tools(self) -> None:
        self.stack.searching.find(*texts.FOUND, query="Husum")
        self.stack.searching.find(*texts.FOUND_INSIDE, query="Hallig")
        upstream = self.stack.upstream
        upstream.reply(
            {"reasoning": texts.RESEARCH_PLAN},
            _search("path to the Hallig"),
            contains=texts.RESEARCH_TASK,
            after_tools=0,
        )
        upstream.reply({"text": texts.RESEARCH_REPORT}, contains=texts.RESEARCH_TASK)
        research = {"call": {"name": "research_agent", "arguments": {"question": texts.RESEARCH_TASK}}}
        now = {"call": {"name": "current_time", "arguments": {"timezone": "Europe/Berlin"}}}
        first = [
            {"reasoning": texts.TOOLS_PLAN},
            {"text": texts.TOOLS_BEFORE},
            _search("tide table Husum today"),
            now,
            research,
        ]
        upstream.reply(*first, contains=texts.TOOLS_QUESTION, after_tools=0)
        upstream.reply({"text": texts.TOOLS_ANSWER}, contains=texts.TOOLS_QUESTION)
        self.ask(self.tools, texts.TOOLS_QUESTION)

    def tell_route(self) -> None:
        """A tree that has been edited, regenerated and compared."""
        session = self.branching
        for question, answer in texts.ROUTE.items():
            self.stack.upstream.reply({"text": answer}, contains=question)
        first = self.ask(session, texts.ROUTE_QUESTION, models=["alpha", "beta"])
        for text in list(texts.ROUTE)[1:4]:
            self.ask(session, text)
        start = first["runs"][1]["message"]
        for text in ("Shorter days, please.", "Only the south coast.", "Start in Akureyri."):
            turn = self.ask(session, text, parent=start)
            self.post(f"messages/{turn['user_message']}/regenerations/", {})
            self.ask(session, list(texts.ROUTE)[4], parent=turn["runs"][0]["message"])
        self.ask(session, list(texts.ROUTE)[5])


def _search(query: str) -> dict[str, Any]:
    return {"call": {"name": "web_search", "arguments": {"queries": [query]}}}


def conversation(page: Page, world: World) -> None:
    _open(page, world.lighthouse, "answer")
    expect(page.locator("article.answer table")).to_be_visible()
    _to_the_top(page)


def side_by_side(page: Page, world: World) -> None:
    _open(page, world.compared, "answer")
    expect(page.locator(".columns article.answer")).to_have_count(3)


def tools(page: Page, world: World) -> None:
    _open(page, world.tools, "answer")
    if page.viewport_size["width"] > ROOMY_PX:
        page.get_by_text(re.compile(r"Used \d tools")).click()
        # It stands open: folded, so that the answer is in the picture as well.
        page.get_by_text("Researched", exact=True).click()
    _to_the_top(page)


def tree(page: Page, world: World) -> None:
    _open(page, world.branching, "answer")
    page.locator("#tree-toggle").click()
    expect(page.locator(".tree-map .mark").first).to_be_visible()
    page.locator('.tree-map .mark[aria-selected="true"]').focus()
    expect(page.locator(".tree-preview p").last).not_to_have_text("…")


def agents(page: Page, world: World) -> None:
    _open(page, world.lighthouse, "answer")
    account(page, "Agents")
    page.get_by_role("dialog").get_by_text(texts.AGENTS[0]["name"]).click()
    expect(page.get_by_role("dialog").get_by_label("Name", exact=True)).to_be_focused()


def settings(page: Page, world: World) -> None:
    _open(page, world.lighthouse, "answer")
    account(page, "Settings")
    expect(page.get_by_role("dialog").locator("tbody tr").first).to_be_visible()


def knowledge(page: Page, _: World) -> None:
    _go(page, "#knowledge")
    expect(page.locator("#title")).to_have_text("Knowledge")
    expect(page.locator("#knowledge li").first).to_be_visible()


def knowledge_base(page: Page, world: World) -> None:
    _go(page, f"#knowledge/{world.base}")
    expect(page.locator(".members li")).to_have_count(3)
    page.locator("#knowledge input[type=search]").fill(texts.SEARCHED)
    page.locator("#knowledge input[type=search]").press("Enter")
    expect(page.locator(".hits li").first).to_be_visible()


SCENES = {
    scene.__name__.replace("_", "-"): scene
    for scene in (conversation, side_by_side, tools, tree, agents, settings, knowledge, knowledge_base)
}


def _to_the_top(page: Page) -> None:
    """The page keeps the reader's place until formulas and code have their looks; then it stays where it is put."""
    scroller = page.locator("#scroller")
    for _ in range(100):
        scroller.evaluate("element => { element.scrollTop = 0; }")
        page.wait_for_timeout(300)
        if scroller.evaluate("element => element.scrollTop") == 0:
            break
    expect(page.locator("article.user").first).to_be_in_viewport(ratio=1)


def _go(page: Page, fragment: str) -> None:
    page.goto(page.url.partition("#")[0] + fragment)
    page.reload()


def _open(page: Page, session: str, role: str) -> None:
    _go(page, f"#{session}")
    expect(page.locator(f"article.{role}").first).to_have_attribute("aria-busy", "false")


def account(page: Page, name: str) -> None:
    if not page.locator("#account").is_visible():
        page.locator("#sidebar-toggle").click()
    page.locator("#account").click()
    page.get_by_role("menuitem", name=name).click()
