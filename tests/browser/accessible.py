"""Runs axe on a page and formats its findings. axe is injected past the page's content security policy."""

from typing import Any, Literal

from playwright.sync_api import Page

from tests.instance import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# It does not know that a picture's text names what its label is for: so Django labels its search.
RUN = """async (runOnly) => {
    const rules = { "label-title-only": { enabled: false } };
    const { violations } = await axe.run(document, { runOnly, rules, resultTypes: ["violations"] });
    return violations;
}"""
# Colours that glide from light to dark have arrived.
SETTLE = """() => {
    document.body.getBoundingClientRect();
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
}"""


def violations(page: Page, only: str | None = None) -> list[str]:
    """Return one line per finding: the rule and the element. only: check this rule alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return [_said(found) for found in page.evaluate(RUN, [only] if only else RULES)]


def both_schemes(page: Page) -> list[str]:
    """Check all rules in the light theme, and contrasts in the dark theme."""
    _see(page, "light")
    found = violations(page)
    _see(page, "dark")
    found += [f"dark {line}" for line in violations(page, only="color-contrast")]
    _see(page, "light")
    return found


def _see(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SETTLE)


def _said(found: dict[str, Any]) -> str:
    places = "; ".join(f"{node['target']} {node['failureSummary']}" for node in found["nodes"][:3])
    return f"{found['id']}: {places}"
