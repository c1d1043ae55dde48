"""Where the code is, and which version: a clone, or the package that pip has installed, in a folder with the same files.

Only a clone has pyproject.toml. Imports nothing of Turnwire.
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
    """The version in pyproject.toml, from there or from what pip has recorded of it."""
    file = _project_file(ROOT)
    if file is None:
        return metadata.version("turnwire")
    return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def default_data_dir(root: Path = ROOT) -> Path:
    """DATA_DIR unless it is set: `.data` in a clone; else a folder of the user, since an update replaces that of the code."""
    if _project_file(root):
        return root / ".data"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "turnwire"
