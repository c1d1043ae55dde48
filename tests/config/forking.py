"""Run by test_forked.py: `python -m tests.config.forking [preload]`. Forks children that say what they are, under a supervisor.

Prints a line of JSON for each line that a child has printed, and for each status: `[name, line or status]`.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from config.own_programs import main_of_line, main_of_module, preload
from config.programs import environment
from config.supervisor import Program, Supervisor


def say(*values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def describe() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)]
    sys.stderr.write("to the error output\n")
    say(
        {
            "descriptors": sorted(
                int(entry.name) for entry in Path("/proc/self/fd").iterdir() if entry.exists()
            ),
            "input": sys.stdin.read(),
            "is_leader": os.getpgrp() == os.getpid(),
            "are_default": [handler == signal.SIG_DFL for handler in handlers],
        }
    )


def end_last() -> None:
    import atexit

    atexit.register(say, "the end")
    threading.Thread(target=lambda: (time.sleep(0.2), say("a thread"))).start()


def exit_with(status: Any) -> None:
    raise SystemExit(status)


def fail() -> None:
    raise ValueError("it failed")


def forked(supervisor: Supervisor) -> None:
    mains = {
        "describe": describe, "end": end_last, "three": lambda: exit_with(3), "text": lambda: exit_with("no"),
        "error": fail, "killed": lambda: os.kill(os.getpid(), signal.SIGKILL), "term": lambda: os.kill(os.getpid(), 15),
    }  # fmt: skip
    programs = [
        Program(name, ["/nonexistent"], {}, 0, main=lambda _environment, main=main: main())
        for name, main in mains.items()
    ]
    run(supervisor, programs)


def preloaded(supervisor: Supervisor) -> None:
    say("parent", {"may_fork": supervisor.may_fork, "threads": threading.active_count()})
    say(
        "tasks",
        sorted(
            name
            for name in sys.modules
            if name.endswith(".tasks") and not name.startswith(("asyncio.", "chat."))
        ),
    )
    variables = environment({"QUEUE": "tides"})
    module = main_of_module(["-m", "tests.config.forked_role", "sweep_runs"])
    line = main_of_line('python -m tests.config.forked_role "${QUEUE:-llm}" "${NONE:-ebb}" $$')
    run(supervisor, [Program(name, ["/nonexistent"], variables, 0, main=main) for name, main in (("sweeper", module), ("line", line))])  # fmt: skip


def run(supervisor: Supervisor, programs: list[Program]) -> None:
    for program in programs:
        child = supervisor.start_once(program)
        while child.is_running:
            supervisor.tick()
        say(program.name, child.status)


if __name__ == "__main__":
    supervisor = Supervisor(say)
    if "preload" in sys.argv:
        supervisor.may_fork = preload()
        preloaded(supervisor)
    else:
        supervisor.may_fork = True
        forked(supervisor)
    supervisor.stop(hurry=lambda: True)
