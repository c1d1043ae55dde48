"""Every error code of the API and of failed runs has a text in the page."""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chat.presenters.tools import tool_cards
from chat.protocol.errors import FILE_ERRORS, PROVIDER_ERRORS, REFUSALS, RUN_ERRORS
from tests.instance import ROOT
from tests.web.page.test_reducer import node

pytestmark = [pytest.mark.documents]

# Codes that the page itself creates.
ITS_OWN = {"unreachable", "unreadable", "proxy_too_large", "upload_interrupted"}


def texts_of(module: str, table: str, text: str = "text()") -> dict[str, str]:
    """Return the English texts of a module's table, by code. text: what is the text of a value, in JavaScript.

    The modules of all apps are imported from one folder, as the server puts them together.
    """
    runtime = node()
    if runtime is None:
        pytest.skip("Node is missing: the page's words were NOT compared with the codes")
    entries = "Object.fromEntries(Object.entries(words).map(([code, text]) => [code, " + text + "]))"
    with TemporaryDirectory() as page:
        Path(page, "package.json").write_text('{"type": "module"}', encoding="utf-8")
        for app in ("web", "features/*"):
            for modules in ROOT.glob(f"{app}/static/chat"):
                shutil.copytree(modules, page, dirs_exist_ok=True)
        script = (
            f"import {{ {table} as words }} from '{page}/{module}'; console.log(JSON.stringify({entries}));"
        )
        done = subprocess.run(
            [runtime, "--input-type=module", "-e", script], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    words: dict[str, str] = json.loads(done.stdout)
    return words


def test_every_refusal_has_words() -> None:
    words = texts_of("answer/api_error_texts.js", "API_ERRORS")
    assert set(words) - ITS_OWN == set(REFUSALS)
    assert all(text.endswith((".", "!")) for text in words.values())


def test_every_way_a_run_can_fail_has_words_that_say_what_to_do() -> None:
    words = texts_of("answer/status_texts.js", "RUN_ERRORS")
    assert set(words) == set(RUN_ERRORS)
    assert [code for code, text in words.items() if len(text.split(". ")) < 2] == []


def test_every_way_a_file_can_fail_has_words_that_say_what_to_do() -> None:
    words = texts_of("files/file_entry.js", "FILE_ERRORS")
    assert set(words) == set(FILE_ERRORS)
    assert [code for code, text in words.items() if len(text.split(". ")) < 2] == []


def test_every_tool_has_an_icon_that_the_page_draws() -> None:
    icons = texts_of("elements/icons.js", "PATHS", "text")
    assert {card.icon for card in tool_cards().values()} <= set(icons)


def test_every_reason_why_a_provider_cannot_be_used_has_words() -> None:
    words = texts_of("providers/provider_view.js", "PROVIDER_ERRORS")
    assert set(words) == set(PROVIDER_ERRORS)
    assert all(text.endswith(".") for text in words.values())
