"""Runs the tests of the page's pure modules (*.test.mjs) with Node's test runner."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.instance import ROOT, node

HERE = Path(__file__).resolve().parent


@pytest.mark.timeout(120)
def test_the_pure_modules_of_the_page() -> None:
    runtime = node()
    if runtime is None:
        assert os.environ.get("CI") != "true", "Node is missing"
        pytest.skip("Node is missing: the page's modules were NOT tested")
    done = subprocess.run(
        [
            runtime,
            f"--import={(HERE / 'static_roots.mjs').as_uri()}",
            "--test",
            "--test-reporter=spec",
            # Some files wait for a timer; without it, of two processors one file would run at a time.
            "--test-concurrency=4",
            *map(str, sorted((ROOT / "tests").rglob("*.test.mjs"))),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
