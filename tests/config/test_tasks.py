"""What is sent by name is known to the workers, and to those alone that it is meant for."""

import subprocess
import sys

import pytest

from chat.protocol.tasks import COMPRESS_BRANCH, COMPUTE_VECTORS, EXTRACT_FILE, TASK_NAMES
from config.celery import app
from features.providers.providers import CHECK_PROVIDER
from features.titles.turn_part import TITLE_SESSION
from tests.instance import ROOT

OURS = "print(*sorted(name for name in app.tasks if not name.startswith('celery.')))"


def test_every_declared_task_is_registered() -> None:
    app.loader.import_default_modules()
    assert set(TASK_NAMES) <= set(app.tasks)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("config.celery", {*TASK_NAMES, CHECK_PROVIDER, TITLE_SESSION}),
        ("config.compression_app", {COMPRESS_BRANCH}),
        ("config.ingest_app", {COMPUTE_VECTORS, EXTRACT_FILE}),
    ],
)
def test_a_worker_knows_its_own_tasks_alone(module: str, names: set[str]) -> None:
    """In a process of its own, as it is started: loading the others' would start what belongs to them."""
    code = f"import django; from {module} import app; django.setup(); app.loader.import_default_modules(); {OURS}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == names
