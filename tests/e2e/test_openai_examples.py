"""Every example of docs/openai.md runs against a real server as it is printed there. test_judges.py has its configurations."""

import os
import re
import subprocess
import sys

import pytest

from tests.instance import ROOT
from tests.stack import Stack

pytestmark = pytest.mark.e2e
PAGE = (ROOT / "docs" / "openai.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(sh|python)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = {"sh": ["/bin/sh", "-euc"], "python": [sys.executable, "-c"]}


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_the_example_runs(stack: Stack, language: str, example: str) -> None:
    variables = {
        "OPENAI_BASE_URL": f"{stack.base_url}/v1",
        "OPENAI_API_KEY": stack.create_token("alice"),
        "NO_PROXY": "*",
    }
    ended = subprocess.run(
        [*COMMANDS[language], example],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert re.search("alpha|You said", ended.stdout)
    assert '"error":{' not in ended.stdout
