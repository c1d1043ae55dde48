"""Runs axe on a page and formats its findings. axe is injected past the page's content security policy."""

from typing import Any, Literal

from playwright.sync_api import Page

from tests.instance import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (runOnly) => {
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations;
}"""
# Finishes colour transitions between the themes.
SETTLE = """() => {
    document.body.getBoundingClientRect();
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
}"""


def violations(page: Page, only: str | None = None) -> list[str]:
    """Return one line per finding: the rule and the element. only: check this rule alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return [_format_finding(found) for found in page.evaluate(RUN, [only] if only else RULES)]


def violations_in_both_themes(page: Page) -> list[str]:
    """Check all rules in the light theme, and contrasts in the dark theme."""
    _set_scheme(page, "light")
    found = violations(page)
    _set_scheme(page, "dark")
    found += [f"dark {line}" for line in violations(page, only="color-contrast")]
    _set_scheme(page, "light")
    return found


def _set_scheme(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SETTLE)


def _format_finding(found: dict[str, Any]) -> str:
    places = "; ".join(f"{node['target']} {node['failureSummary']}" for node in found["nodes"][:3])
    return f"{found['id']}: {places}"
