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
