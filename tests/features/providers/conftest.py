"""The runtime and the scripted model server of the worker's tests."""

from tests.llm_worker.conftest import runtime, upstream

__all__ = ["runtime", "upstream"]
