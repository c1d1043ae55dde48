"""The runtime and the scripted model server of the worker's tests."""

from tests.llm_worker.conftest import ask, deliver, runtime, upstream

__all__ = ["ask", "deliver", "runtime", "upstream"]
