"""Every code a client can be refused with, or a run can end with, has words for readers."""

import json
import subprocess
from pathlib import Path

import pytest

from chat.protocol.errors import REFUSALS
from chat.protocol.wire import RUN_ERRORS
from tests.house import ROOT
from tests.web.page.test_reducer import node

PAGE = Path(ROOT) / "web/static/chat"
# Made by the page itself.
ITS_OWN = {"unreachable", "unreadable"}


def said(module: str, table: str) -> dict[str, str]:
    """What a table of words says in English, by code."""
    runtime = node()
    if runtime is None:
        pytest.skip("Node is missing: the page's words were NOT compared with the codes")
    told = "Object.fromEntries(Object.entries(words).map(([code, say]) => [code, say()]))"
    script = f"import {{ {table} as words }} from '{PAGE / module}'; console.log(JSON.stringify({told}));"
    done = subprocess.run(
        [runtime, "--input-type=module", "-e", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    words: dict[str, str] = json.loads(done.stdout)
    return words


def test_every_refusal_has_words() -> None:
    words = said("answer/refusal_words.js", "REFUSALS")
    assert set(words) - ITS_OWN == set(REFUSALS)
    assert all(text.endswith((".", "!")) for text in words.values())


def test_every_way_a_run_can_fail_has_words_that_say_what_to_do() -> None:
    words = said("answer/run_error_words.js", "RUN_ERRORS")
    assert set(words) == set(RUN_ERRORS)
    assert [code for code, text in words.items() if len(text.split(". ")) < 2] == []
