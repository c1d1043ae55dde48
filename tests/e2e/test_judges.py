"""Libraries and programs that speak to OpenAI, and AG-UI's client, speak to Turnwire by its address: texts, streams,
functions, objects, files, memory.

Each is installed beside the project from PyPI or npm, as it was on a date. Its program in `judges/` checks what it gets.
"""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from config.install import npm
from tests.instance import ROOT, node
from tests.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.timeout(600), pytest.mark.usefixtures("reading")]
AS_OF: Final = "2026-11-30"
PROGRAMS: Final = Path(__file__).parent / "judges"
JUDGES: Final = {
    "agents_sdk.py": ["openai-agents==0.24.0"],
    "pydantic_ai_agents.py": ["pydantic-ai-slim[openai]==2.68.0"],
    "langchain_models.py": ["langchain-openai==1.7.4"],
    "litellm_calls.py": ["litellm==1.110.2"],
    "llm_cli.py": ["llm==0.36"],
    "codex_cli.mjs": ["@openai/codex@0.171.0"],
    "librechat_config.mjs": [
        "librechat-data-provider@0.8.524",
        "@langchain/openai@1.5.8",
        "@langchain/core@1.4.0",
        "yaml@2.9.1",
        "zod@4.6.7",
    ],
    "agui_client.mjs": ["@ag-ui/client@1.0.0"],
    "generated_python.py": ["openapi-python-client==0.29.1", "httpx==0.28.1"],
    "generated_typescript.mjs": ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"],
    "vercel_ai.mjs": ["openai@6.49.0", "ai@6.0.326", "@ai-sdk/openai@3.0.141", "zod@4.6.7"],
}


def installed(program: str) -> Path:
    """Install the packages of the program, once, and return their folder."""
    packages = JUDGES[program]
    folder = ROOT / ".venv" / "judges" / sha256(repr((AS_OF, packages)).encode()).hexdigest()[:12]
    if folder.exists():
        return folder
    begun = folder.with_suffix(".begun")
    shutil.rmtree(begun, ignore_errors=True)
    if program.endswith(".mjs"):
        begun.mkdir(parents=True)
        install = [*npm(), "install", "--no-audit", "--no-fund", f"--before={AS_OF}", "--prefix", begun]
        subprocess.run([*install, *packages], check=True, capture_output=True)
    else:
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "-q", begun], check=True, capture_output=True)
        where = ["--python", begun / "bin" / "python", "--exclude-newer", f"{AS_OF}T00:00:00Z"]
        subprocess.run([*uv, "pip", "install", "-q", *where, *packages], check=True, capture_output=True)
    begun.rename(folder)
    return folder


def command(program: str) -> list[Any]:
    folder = installed(program)
    if program.endswith(".py"):
        return [folder / "bin" / "python", PROGRAMS / program]
    # Modules are looked for beside the program.
    shutil.copy(PROGRAMS / program, folder)
    return [node(), folder / program]


def answer(body: dict[str, Any]) -> list[Any]:
    """Answer as the words of the question ask for."""
    messages = body["messages"]
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    question = json.dumps(messages[last]["content"])
    tools = [] if any(message["role"] == "tool" for message in messages[last:]) else body.get("tools", [])
    arguments = {
        "FUNCTION": {"port": "Brest"},
        "OBJECT BY A TOOL": {"hour": 18},
        "HANDOFF": {},
        "COMMAND": {"cmd": "echo 18:40"},
    }
    for word, members in arguments.items():
        if tools and word in question:
            functions = (tool["function"] for tool in tools)
            name = next(
                function["name"]
                for function in functions
                if members.keys() <= function["parameters"].get("properties", {}).keys()
            )
            return [{"call": {"name": name, "id": "call_1", "arguments": members}}]
    if "OBJECT" in question:
        return [{"text": '{"hour": 18}'}]
    pictures = json.dumps(messages).count("data:image")
    return [
        {"reasoning": "Hm."},
        {"text": "Two tides "},
        {"text": "a day."},
        {"text": f" {pictures}" if pictures else ""},
    ]


@pytest.mark.parametrize("program", JUDGES)
def test_the_library_gets_what_it_expects(stack: Stack, program: str) -> None:
    stack.upstream.reply_by(answer)
    variables = {
        "OPENAI_BASE_URL": f"{stack.base_url}/v1",
        "OPENAI_API_KEY": stack.create_token("alice"),
        "OPENAI_PAGE": str(ROOT / "docs" / "openai.md"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "*",
    }
    ended = subprocess.run(
        command(program),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
