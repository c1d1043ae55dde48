"""The code of the last release, for tests of what its users have after an upgrade."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tests.instance import ROOT

# Version 0.2.0.
COMMIT: Final = "719534823f63c1bc40c689481468b2b0bd9db547"


def unpack(folder: Path) -> Path:
    """Put the code into a new folder, and return that. Skips the test in a clone without the commit."""
    archive = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode != 0:
        pytest.skip(f"this clone does not have {COMMIT}: the last release was NOT tested")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder
