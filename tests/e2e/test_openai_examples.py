"""Every example of docs/openai.md runs against a real server as it is printed there. test_judges.py has its configurations."""

import os
import re
import subprocess
import sys
from signal import SIGKILL

import httpx2
import pytest

from tests.instance import ROOT, node
from tests.stack import Stack

pytestmark = pytest.mark.e2e
PAGE = (ROOT / "docs" / "openai.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(sh|python|js)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = {
    "sh": ["/bin/sh", "-euc"],
    "python": [sys.executable, "-c"],
    "js": [str(node()), "--input-type=module", "-e"],
}


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_the_example_runs(stack: Stack, language: str, example: str) -> None:
    ended = subprocess.run(
        [*COMMANDS[language], example],
        env=variables(stack), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert re.search("alpha|You said", ended.stdout)
    assert '"error":{' not in ended.stdout


@pytest.mark.full
@pytest.mark.parametrize("example", [code for _, code in EXAMPLES if "cursor" in code])
def test_a_reader_with_a_cursor_goes_on_when_its_server_was_killed(stack: Stack, example: str) -> None:
    stack.upstream.reply({"text": "alpha: two tides "}, {"wait": "web"}, {"text": "a day."}, times=1)
    with subprocess.Popen(
        [*COMMANDS["js" if "fetch(" in example else "python"], example],
        env=variables(stack), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stdout
        begun = os.read(reader.stdout.fileno(), 1).decode() if "fetch(" in example else ""
        if not begun:
            stack.upstream.wait_for(
                lambda: re.search(r"^turnwire_sockets [1-9]", metrics(stack), re.MULTILINE)
            )
        stack.signal("web", SIGKILL)
        stack.start("web")
        stack.wait_until_ready()
        stack.upstream.release("web")
        rest, problems = reader.communicate(timeout=60)
    assert reader.returncode == 0, problems
    assert (begun + rest).splitlines()[-1] == "alpha: two tides a day."


def variables(stack: Stack) -> dict[str, str]:
    own = {
        "OPENAI_BASE_URL": f"{stack.base_url}/v1",
        "OPENAI_API_KEY": stack.create_token("alice"),
        "WEBHOOK_URL": f"http://127.0.0.1:{stack.mcp_port}/",
        "RECEIVER_PORT": str(stack.mcp_port),
        "NO_PROXY": "*",
    }
    return {**os.environ, **own}


def metrics(stack: Stack) -> str:
    return httpx2.get(f"{stack.base_url}/metrics", timeout=10, trust_env=False).text
