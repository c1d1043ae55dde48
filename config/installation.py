"""The place and the version of the code.

The code is in a clone, or in the package that pip has installed: a folder with the same files. Only a clone has
pyproject.toml. Imports nothing of Turnwire.
"""

import os
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


def _project_file(root: Path) -> Path | None:
    file = root / "pyproject.toml"
    return file if file.is_file() else None


def version() -> str:
    """Return the version in pyproject.toml, read there or from pip's metadata."""
    file = _project_file(ROOT)
    if file is None:
        return metadata.version("turnwire")
    return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def default_data_dir(root: Path = ROOT) -> Path:
    """Return the default of DATA_DIR: `.data` in a clone, otherwise a folder of the user.
    The folder of an installed package would be replaced by an update.
    """
    if _project_file(root):
        return root / ".data"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "turnwire"
