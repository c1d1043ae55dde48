"""What collecting makes of the page's sources: few files, whose names change with what is in them."""

import json
import re
from pathlib import Path
from posixpath import normpath

import pytest
from django.contrib.staticfiles.finders import find, get_finders
from django.core.exceptions import ImproperlyConfigured

from tests.messages import TEMPLATES
from web.page import bundle as bundling
from web.page.bundle import GROUPS, Bundle, bundled

PAGE = "chat/page.js"
LATER = (
    "chat/tree/tree_panel.js",
    "vendor/temml.js",
    "vendor/highlight.js",
    "vendor/languages/python.js",
    "vendor/d3-hierarchy.js",
)


@pytest.fixture(scope="module")
def sources() -> dict[str, bytes]:
    found = {}
    for finder in get_finders():
        for name, storage in finder.list([]):
            if name.startswith(("chat/", "vendor/")):
                with storage.open(name) as file:
                    found[name] = file.read()
    return found


@pytest.fixture(scope="module")
def bundle(sources: dict[str, bytes]) -> Bundle:
    return bundled(sources)


@pytest.mark.slow
@pytest.mark.pure
def test_every_script_and_style_sheet_that_is_made_of_others_is_bundled(bundle: Bundle) -> None:
    named = {name for group in GROUPS for name in group}
    assert all(re.fullmatch(r"bundle/\w+\.[0-9A-Z]{8}\.\w+", bundle.entries[name]) for name in named)


@pytest.mark.pure
def test_every_module_that_a_template_names_is_bundled() -> None:
    tags = [
        tag for each in TEMPLATES for tag in re.findall(r"<script type=.module.*?</script>", each.read_text())
    ]
    named = {re.findall(r"static ['\"]([^'\"]+)", tag)[0] for tag in tags}
    assert named == {name for group in GROUPS for name in group if name.endswith(".js")}


@pytest.mark.slow
@pytest.mark.pure
def test_what_the_page_needs_at_once_is_in_two_scripts(bundle: Bundle) -> None:
    assert len(bundle.scripts[PAGE]) <= 2
    assert bundle.scripts[PAGE][0] == bundle.entries[PAGE]


@pytest.mark.slow
@pytest.mark.pure
def test_formulas_highlighting_and_the_tree_are_not_among_them(bundle: Bundle) -> None:
    maps = [json.loads(bundle.files[f"{name}.map"])["sources"] for name in bundle.scripts[PAGE]]
    at_once = {source for each in maps for source in each}
    assert "../chat/composer/composer.js" in at_once
    assert not {f"../{name}" for name in LATER} & at_once
    assert set(LATER) <= bundle.sources


@pytest.mark.slow
@pytest.mark.pure
def test_source_maps_name_sources_and_no_folder_of_the_machine(bundle: Bundle) -> None:
    maps = [json.loads(content) for name, content in bundle.files.items() if name.endswith(".map")]
    assert maps
    assert all(re.match(r"\.\./(chat|vendor)/", source) for each in maps for source in each["sources"])
    assert all(b"/tmp/" not in content for content in bundle.files.values())


def test_the_same_sources_have_the_same_names_and_a_change_has_others(
    sources: dict[str, bytes], bundle: Bundle
) -> None:
    assert bundled(sources).files == bundle.files
    name = "chat/composer/composer.js"
    changed = bundled({**sources, name: sources[name] + b"\nconsole.log(1);\n"})
    assert changed.entries[PAGE] != bundle.entries[PAGE]
    assert changed.entries["chat/page.css"] == bundle.entries["chat/page.css"]


def test_an_import_of_nothing_stops_the_collection_and_is_named(sources: dict[str, bytes]) -> None:
    broken = {**sources, PAGE: sources[PAGE] + b'\nimport "./nowhere.js";\n'}
    with pytest.raises(ImproperlyConfigured, match=r"nowhere\.js"):
        bundled(broken)


@pytest.mark.slow
@pytest.mark.pure
def test_without_the_program_the_collection_says_what_to_do(
    sources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bundling.settings, "BASE_DIR", tmp_path)
    with pytest.raises(ImproperlyConfigured, match="make setup"):
        bundled(sources)


@pytest.mark.pure
def test_every_style_sheet_that_a_page_imports_exists() -> None:
    for name in ("chat/page.css", "chat/sharing/shared_page.css"):
        sheet = Path(str(find(name))).read_text(encoding="utf-8")
        imported = re.findall(r'@import "([^"]+)"', sheet)
        assert imported
        assert [each for each in imported if not find(normpath(f"{name}/../{each}"))] == []
