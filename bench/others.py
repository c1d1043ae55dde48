"""Readings of the same files by libraries outside the project, in an environment of their own: `--others PYTHON`."""

import argparse
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Reading(NamedTuple):
    """The result of one library: the name of the file, processor time in milliseconds, and the text."""

    reader: str
    file: str
    milliseconds: float
    text: str


def python_of_others(description: str | None) -> str | None:
    """Return the command's argument `--others`; None if it is omitted."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--others", metavar="PYTHON")
    given: str | None = parser.parse_args().others
    return given


def read_with_others(python: str, script: Path, folder: Path) -> Iterator[Reading]:
    # One thread, so that processor time is comparable.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, str(script), str(folder)], stdout=subprocess.PIPE, check=True, env=environment
    )
    for line in done.stdout.decode().splitlines():
        yield Reading(*json.loads(line))
