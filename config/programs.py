"""Which programs a start consists of. The commands of our own processes are the Procfile's; this adds rank,
signals and patience.
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from config.embedded import Server
from config.model_server import ModelServer
from config.supervisor import Program

ROOT = Path(__file__).resolve().parents[1]
# Started in this order, stopped in the opposite one.
POSTGRES, VALKEY, MODEL, WORKERS, WEB = range(5)
# A worker hands its runs over within 5 s of the end of its grace; the rest is room for a busy machine.
HANDOVER_S = 10.0
# Said by Celery and uvicorn at every start, to people who can do nothing about it.
QUIET = {
    "PYTHONWARNINGS": "ignore:You're running the worker,ignore:The `websockets` implementation is deprecated"
}


def procfile(path: Path = ROOT / "Procfile") -> dict[str, str]:
    """Process name -> shell command, in the file's order."""
    lines = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        name.strip(): command.strip() for name, colon, command in lines if colon and not name.startswith("#")
    }


def environment(values: Mapping[str, str]) -> dict[str, str]:
    """Of every child: ours, with `values`, and with this virtual environment's programs first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, **values, "PATH": path, "PYTHONUNBUFFERED": "1"}


def postgres(server: Server) -> Program:
    # SIGINT is the fast shutdown: it does not wait for clients.
    values = {**os.environ, **server.environment}
    return Program("postgres", server.command, values, POSTGRES, signal.SIGINT, stop_grace_s=30.0)


def valkey(server: Server) -> Program:
    return Program("valkey", server.command, {**os.environ, **server.environment}, VALKEY)


def model(server: ModelServer) -> Program:
    return Program(server.name, server.command, environment(server.environment), MODEL, stop_grace_s=3.0)


def workers(values: Mapping[str, str], *, llm_workers: int, drain_grace_s: int) -> list[Program]:
    """Every line of the Procfile but web; `llm` as often as asked for."""
    found = []
    for name, command in procfile().items():
        count = llm_workers if name == "llm" else 1
        for number in range(1, count + 1 if name != "web" else 1):
            label = f"{name}.{number}" if count > 1 else name
            patience_s = drain_grace_s + HANDOVER_S
            found.append(
                Program(
                    label,
                    in_shell(command),
                    environment({**QUIET, **values}),
                    WORKERS,
                    stop_grace_s=patience_s,
                )
            )
    return found


def web(values: Mapping[str, str]) -> Program:
    return Program("web", in_shell(procfile()["web"]), environment({**QUIET, **values}), WEB)


def once(module: str, arguments: list[str], values: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", module, *arguments]
    return Program(module.rpartition(".")[2], command, environment(values), WEB)


def in_shell(command: str) -> list[str]:
    """As any Procfile runner does it; exec, so that the shell does not stand between us and the program."""
    return ["/bin/sh", "-c", f"exec {command}"]
