"""llm, configured as docs/openai.md says: a question, its continuation, and an object by a schema."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

blocks = re.findall(r"```yaml\n(.*?)```", Path(os.environ["OPENAI_PAGE"]).read_text("utf-8"), re.DOTALL)
[config] = [block for block in blocks if "model_id" in block]


def llm(home: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "llm", *arguments],
        env={**os.environ, "LLM_USER_PATH": home},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


with tempfile.TemporaryDirectory() as home:
    address = config.replace("https://chat.example.org/v1", os.environ["OPENAI_BASE_URL"])
    (Path(home) / "extra-openai-models.yaml").write_text(address, "utf-8")
    llm(home, "keys", "set", "turnwire", "--value", os.environ["OPENAI_API_KEY"])
    assert llm(home, "-m", "turnwire", "-s", "Be brief.", "Why two tides?") == "Two tides a day."
    assert llm(home, "-c", "And the Moon?") == "Two tides a day."
    assert llm(home, "-m", "turnwire", "--no-stream", "Why?") == "Two tides a day."
    made = llm(home, "-m", "turnwire", "--schema", "hour int", "An OBJECT")
    assert json.loads(made) == {"hour": 18}
