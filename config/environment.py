"""Read one environment variable each, loudly.

A value comes from the process environment, else from the file the launcher keeps in DATA_DIR (so that
`manage.py` in a second shell finds the running embedded services), else from the default. Nonsense ends the
process with one line that names the variable and status 78 (EX_CONFIG of sysexits.h).
"""

import json
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NoReturn

EX_CONFIG = 78
KEPT = "environment.json"
DEFAULT_CONTEXT_WINDOW = 128_000
# Less holds neither a system prompt nor an answer.
SMALLEST_CONTEXT_WINDOW = 512


def fail(name: str, problem: str) -> NoReturn:
    """End the process: one line on stderr, status 78."""
    sys.stderr.write(f"{name}: {problem}\n")
    raise SystemExit(EX_CONFIG)


def data_dir() -> Path:
    """Absolute. The default is beside manage.py, whatever the current directory."""
    return Path(os.environ.get("DATA_DIR") or Path(__file__).parents[1] / ".data").absolute()


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


def keep(directory: Path, values: Mapping[str, str]) -> None:
    """Write what later commands with the same DATA_DIR shall read; values hold secrets."""
    part = directory / f"{KEPT}.part"
    part.touch(mode=0o600)
    part.write_text(json.dumps(dict(values), indent=1), encoding="utf-8")
    part.replace(directory / KEPT)


def forget(directory: Path) -> None:
    """Drop what an earlier start kept: this process decides afresh."""
    (directory / KEPT).unlink(missing_ok=True)
    _KEPT.clear()


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
    """An empty default means that there may be none."""
    value = text(name, default)
    if value != default and not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        # The value may hold a password: name what is wrong, never the value.
        fail(name, f"is not an address that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    return value


def names(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks dropped, order kept."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def choices(name: str, allowed: Collection[str]) -> dict[str, str]:
    """`key=value` pairs, comma-separated; each value one of `allowed`."""
    pairs = dict(part.partition("=")[::2] for part in names(name))
    for value in pairs.values():
        if value not in allowed:
            fail(name, f"{value!r} is not one of {', '.join(sorted(allowed))}")
    return pairs


def models(name: str) -> dict[str, int]:
    """A list of `name[:context_window]`; model name -> tokens, in the order given. A model's own name may hold
    colons (`llama3:8b`): only a whole number after the last one is a window."""
    found: dict[str, int] = {}
    for entry in names(name):
        head, colon, tail = entry.rpartition(":")
        window = colon and tail.isascii() and tail.isdecimal()
        model, tokens = (head, int(tail)) if window else (entry, DEFAULT_CONTEXT_WINDOW)
        if not model or model in found or not SMALLEST_CONTEXT_WINDOW <= tokens <= 10**8:
            fail(
                name,
                f"{entry!r} is not name[:context_window in tokens, at least {SMALLEST_CONTEXT_WINDOW}], each name once",
            )
        found[model] = tokens
    return found
