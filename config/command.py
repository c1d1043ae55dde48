"""The command `turnwire`: starts what the Procfile and `make run` start, and runs what operators run by hand.

It becomes the program that it names (exec), so that signals, the exit status and the command line belong to that
program.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from config import programs
from config.installation import ROOT, version

WEB: Final = "web"
WORKERS: Final = tuple(name for name in programs.procfile() if name != WEB)
# The commands of config/backup.py: name, help and options.
_ARCHIVES: Final = (
    (
        "backup",
        "Writes the database and uploaded files into a file, while everything runs.",
        ("--without-files", "--check"),
    ),
    ("restore", "Restores such a file, while everything is stopped.", ("--replace",)),
)


class Chosen(NamedTuple):
    """A program and its arguments. values: environment variables that are set for it."""

    program: list[str]
    values: Mapping[str, str] = {}


def main(arguments: Sequence[str]) -> None:
    """Replace this process by the program. Does not return."""
    program, values = chosen(arguments)
    own = with_absolute_data_dir(os.environ)
    environment = programs.environment({**programs.WARNING_FILTERS, **own, **values})
    if program[1] != str(ROOT / "manage.py"):  # the arguments of its commands may be relative paths
        os.chdir(ROOT)
    os.execvpe(program[0], program, environment)  # noqa: S606  no shell is wanted


def chosen(arguments: Sequence[str]) -> Chosen:
    """Return the program for these words of the command line. Exits with status 2 if they are not valid."""
    # Django's commands parse their own options.
    if arguments and arguments[0] == "manage":
        return Chosen([sys.executable, str(ROOT / "manage.py"), *arguments[1:]])
    given = _parser().parse_args(arguments)
    program: Callable[[argparse.Namespace], Chosen] = given.program
    return program(given)


def with_absolute_data_dir(values: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with DATA_DIR as the caller means it: the programs run in the folder of the code."""
    path = values.get("DATA_DIR")
    return {**values, **({"DATA_DIR": str(Path(path).absolute())} if path else {})}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="turnwire", description="A self-hosted chat backend.")
    parser.add_argument("--version", action="version", version=f"turnwire {version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    add = partial(_add, commands)
    add("run", "Starts everything on this machine, until Ctrl-C.", lambda _: _module("config.launcher"))
    add(WEB, "Serves the page and the API.", lambda _: _process(WEB))
    _add_workers(commands.add_parser("worker", help="Starts one worker process."))
    add(
        "migrate",
        "Prepares database and static files for this version.",
        lambda _: _module("config.bootstrap"),
    )
    alive = add("alive", "Exits with 0 if a process of this kind is alive on this host, else 1.", _alive)
    alive.add_argument("kind", choices=(WEB, *WORKERS))
    for name, text, options in _ARCHIVES:
        archive = add(name, text, partial(_archive, name))
        archive.add_argument("file", type=lambda path: str(Path(path).absolute()), metavar="FILE")
        for option in options:
            archive.add_argument(option, dest="options", action="append_const", const=option, default=[])
    add(
        "doctor",
        "Says what is wrong with configuration, services and machine.",
        lambda _: _module("config.doctor"),
    )
    commands.add_parser("manage", help="Runs a command of Django, such as create_user.")
    return parser


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    text: str,
    program: Callable[[argparse.Namespace], Chosen],
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(program=program)
    return command


def _add_workers(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    for kind in WORKERS:
        worker = kinds.add_parser(kind, help="Starts this process of the Procfile.")
        worker.set_defaults(queues="", program=lambda given, kind=kind: _process(kind, given.queues))
        if kind == "llm":
            worker.add_argument(
                "--queues", help="comma-separated, such as llm,slow; default: LLM_QUEUES, or llm"
            )


def _module(name: str, *arguments: str) -> Chosen:
    return Chosen([sys.executable, "-m", name, *arguments])


def _alive(given: argparse.Namespace) -> Chosen:
    return _module("config.alive_command", given.kind)


def _archive(name: str, given: argparse.Namespace) -> Chosen:
    return _module("config.backup", name, given.file, *given.options)


def _process(name: str, queues: str = "") -> Chosen:
    """Return a process of the Procfile. queues: a value for LLM_QUEUES."""
    values = {"LLM_QUEUES": queues} if queues else {}
    return Chosen(programs.shell_command(programs.procfile()[name]), values)
