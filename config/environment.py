"""Read one environment variable each, loudly.

A value comes from the process environment, else from the file the launcher keeps in DATA_DIR (so that
`manage.py` in a second shell finds the running embedded services), else from the default. Nonsense ends the
process with one line that names the variable and status 78 (EX_CONFIG of sysexits.h).
"""

import json
import os
import sys
from pathlib import Path
from typing import NoReturn

EX_CONFIG = 78
KEPT = "environment.json"


def fail(name: str, problem: str) -> NoReturn:
    """End the process: one line on stderr, status 78."""
    sys.stderr.write(f"{name}: {problem}\n")
    raise SystemExit(EX_CONFIG)


def data_dir() -> Path:
    return Path(os.environ.get("DATA_DIR") or ".data").absolute()


def kept(directory: Path) -> dict[str, str]:
    """What the launcher wrote for later commands with the same DATA_DIR; empty before the first start."""
    try:
        values = json.loads((directory / KEPT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        fail("DATA_DIR", f"{directory / KEPT} cannot be read ({error})")
    return {str(name): str(value) for name, value in values.items()}


_KEPT = kept(data_dir())


def text(name: str, default: str = "") -> str:
    return os.environ.get(name) or _KEPT.get(name) or default


def whole_number(name: str, default: int, *, low: int = 0, high: int = 10**9) -> int:
    value = text(name, str(default))
    if not (value.isascii() and value.isdecimal() and low <= int(value) <= high):
        fail(name, f"{value!r} is not a whole number from {low} to {high}")
    return int(value)


def ratio(name: str, default: float) -> float:
    value = text(name, str(default))
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        fail(name, f"{value!r} is not a number between 0 and 1")
    return number


def switch(name: str, *, default: bool = False) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        fail(name, f"{value!r} is not one of 1, 0, true, false, yes, no, on, off")
    return value in ("1", "true", "yes", "on")


def url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    value = text(name, default)
    if not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        # The value may hold a password: name what is wrong, never the value.
        fail(name, f"is not an address that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    return value


def names(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks dropped, order kept."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]
