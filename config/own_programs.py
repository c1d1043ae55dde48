"""Turns a forked process into one of Turnwire's programs: a line of the Procfile, or a module that runs to its end."""

import os
import re
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from setproctitle import setproctitle

# Called with the environment of the program.
Main = Callable[[Mapping[str, str]], None]
# Warnings that Celery and uvicorn print at every start and that users can do nothing about.
IGNORED_WARNINGS: Final = (
    "You're running the worker",
    "An entry for the specified gid or egid was not found",
    "The `websockets` implementation is deprecated",
)
# `python -m MODULE …` or `python FILE …`, with no shell syntax except variables.
_PYTHON_LINE: Final = re.compile(r"python (-m )?[\w./]+( [^;&|<>`()\\]*)?")


def main_of_line(line: str) -> Main | None:
    """Return the function that runs a line of the Procfile; None if the line runs no Python, or needs a shell."""
    return partial(_run_line, line) if _PYTHON_LINE.fullmatch(line) else None


def main_of_module(command: Sequence[str]) -> Main:
    """Return the function that runs a module. command: `-m MODULE …`."""
    return partial(_run, command)


def _run_line(line: str, environment: Mapping[str, str]) -> None:
    # Celery nodes are named after the id of this process; the shell would insert its own.
    words = f"printf '%s\\0' {line.replace('$$', str(os.getpid()))}"
    expanded = subprocess.run(  # noqa: S603  our own commands
        ["/bin/sh", "-c", words], env=environment, stdout=subprocess.PIPE, check=True
    )
    command = [os.fsdecode(word) for word in expanded.stdout.split(b"\0")[1:-1]]
    _run(command, environment)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for message in IGNORED_WARNINGS:
        warnings.filterwarnings("ignore", re.escape(message))
    # For lists of processes.
    setproctitle(" ".join(["python", *command]))
    is_module = command[0] == "-m"
    sys.argv = list(command[1:] if is_module else command)
    _take_role()
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


def _take_role() -> None:
    """Set again what depends on the command line: it was read with the parent's."""
    from django.conf import settings

    from config.apps import check_role
    from config.database_timeouts import limit

    limit(settings.DATABASES["default"]["OPTIONS"], sys.argv, settings.STATEMENT_TIMEOUT_S)
    check_role()
