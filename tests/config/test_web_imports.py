"""What the web process loads: nothing of the processes that run models, summarise or read files."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHERS = {"llm_worker", "compression", "ingest", "openai"}


def test_web_loads_no_other_process_but_the_cards_of_tools() -> None:
    code = f"""
import sys, django
django.setup()
import config.asgi, config.urls
print(*(name for name in sys.modules if name.split(".")[0] in {OTHERS}))
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    cards = {
        f"llm_worker.tools.{folder.parent.name}"
        for folder in (ROOT / "llm_worker/tools").glob("*/__init__.py")
    }
    apps = {"compression", "compression.apps", "llm_worker", "llm_worker.apps", "llm_worker.tools"}
    assert set(done.stdout.split()) == cards | apps
