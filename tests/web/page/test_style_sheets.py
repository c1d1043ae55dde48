"""What the style sheets refer to is there: a browser says nothing about a custom property that nobody defines."""

import re

import pytest

from tests.instance import ROOT

pytestmark = pytest.mark.pure

STATIC = [path for app in ("web", "features/*") for path in ROOT.glob(f"{app}/static/**/*.*")]
# Of Django's admin.
FOREIGN = {"--font-family-primary"}


def test_every_custom_property_is_defined_or_set_by_a_module() -> None:
    sheets = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in STATIC
        if path.suffix == ".css"
    }
    modules = "".join(path.read_text(encoding="utf-8") for path in STATIC if path.suffix == ".js")
    known = set(re.findall(r"(--[\w-]+)\s*:", "".join(sheets.values()))) | FOREIGN
    known |= set(re.findall(r"[\"'](--[\w-]+)[\"']", modules))
    used = {(name, one) for name, text in sheets.items() for one in re.findall(r"var\((--[\w-]+)", text)}
    assert len(used) > 100
    assert sorted(each for each in used if each[1] not in known) == []


def test_a_class_is_styled_by_itself_in_one_style_sheet_of_the_page() -> None:
    """Elsewhere it is styled inside, or together with, something else: names of two parts of the page may be the same."""
    lone: dict[str, set[str]] = {}
    page = ROOT / "web/static/chat/page.css"
    paths = [
        path.relative_to(ROOT)
        for name in re.findall(r'@import "\./(.+)" layer\(\w+\);', page.read_text(encoding="utf-8"))
        for path in STATIC
        if str(path).endswith(f"/static/chat/{name}") and name != "print.css"
    ]
    assert len(paths) > 30
    for path in paths:
        rules = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
        for selectors in re.findall(r"([^{}]+)\{", rules):
            for name in re.findall(r"(?:^|,)\s*(\.[\w-]+)\s*(?=,|$)", re.sub(r"\(.*?\)", "()", selectors)):
                lone.setdefault(name, set()).add(str(path))
    assert len(lone) > 100
    assert {name: sheets for name, sheets in lone.items() if len(sheets) > 1} == {}
