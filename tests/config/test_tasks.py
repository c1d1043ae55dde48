"""What is sent by name is known to the workers, and to those alone that it is meant for."""

import subprocess
import sys

import pytest

from chat.protocol.tasks import COMPRESS_BRANCH, COMPUTE_VECTORS, EXTRACT_FILE, RUN_TURN
from features.mcp.attachments import ANSWER_MCP_REQUEST
from features.mcp.sign_ins import ADVANCE_MCP_SIGN_IN, REVOKE_MCP_TOKENS
from features.mcp.tool_lists import LIST_MCP_TOOLS
from features.providers.providers import CHECK_PROVIDER
from features.titles.turn_part import TITLE_SESSION
from features.webhooks.turn_part import DELIVER_WEBHOOKS
from tests.instance import ROOT

OF_MCP = {ADVANCE_MCP_SIGN_IN, ANSWER_MCP_REQUEST, LIST_MCP_TOOLS, REVOKE_MCP_TOKENS}
OURS = "print(*sorted(name for name in app.tasks if not name.startswith('celery.')))"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("config.celery", {RUN_TURN, CHECK_PROVIDER, DELIVER_WEBHOOKS, TITLE_SESSION, *OF_MCP}),
        ("config.compression_app", {COMPRESS_BRANCH}),
        ("config.ingest_app", {COMPUTE_VECTORS, EXTRACT_FILE}),
    ],
)
def test_a_worker_knows_its_own_tasks_alone(module: str, names: set[str]) -> None:
    """In a process of its own, as it is started: loading the others' would start what belongs to them."""
    code = f"import django; from {module} import app; django.setup(); app.loader.import_default_modules(); {OURS}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == names
