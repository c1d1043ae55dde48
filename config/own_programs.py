"""Turnwire's own programs in forked processes: their shared imports, and what turns a fork into one of them.

Processes that are forked from the one that has imported what they need share that memory (decision 0001).
"""

import gc
import os
import re
import runpy
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Final

import setproctitle

# Modules that the processes of the Procfile import at their start, except those that start a thread, open a connection
# or receive signals of Celery, as the modules of tasks do.
MODULES: Final = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "chat.sweeper.process",
    "compression.runner",
    "config.asgi_middleware",
    "config.urls",
    "features.mcp.worker_part",
    "kombu.transport.redis",
    "llm_worker.attempt.runtime",
    "uvicorn.main",
    "uvicorn.protocols.http.httptools_impl",
    "web.rest.request_bodies",
    "web.socket.consumer",
)
_SETTINGS: Final = re.compile(r"config\.(variables|(\w+_)?settings)")


def preload() -> bool:
    """Import the modules, with settings from the current environment. Return whether this process may be forked.

    It may not be forked on other systems than Linux, because libraries of macOS do not work in a forked process, or if
    there is a second thread.
    """
    if sys.platform != "linux":
        return False
    # The launcher read the settings before it knew the addresses of the services.
    forget_settings()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    for name in MODULES:
        import_module(name)
    from chat.transcript.tokens import DEFAULT, load_encoding

    load_encoding(DEFAULT)
    # Remembers the place of the command line, which it cannot find after the environment has been replaced.
    setproctitle.getproctitle()
    gc.collect()
    # Collections in the children would write to every object, and each page of memory that is written to is copied.
    gc.freeze()
    return threading.active_count() == 1


def forget_settings() -> None:
    """Forget the modules of settings, so that the next import reads the environment again."""
    for name in [name for name in sys.modules if _SETTINGS.fullmatch(name)]:
        del sys.modules[name]


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
    setproctitle.setproctitle(" ".join(["python", *command]))
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
