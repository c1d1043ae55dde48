"""The interface of embedding models. Pure."""

from collections.abc import Sequence
from typing import Protocol

Vector = list[float]


class EmbeddingFailed(Exception):
    """The model is unreachable or overloaded; the same texts may succeed later."""


class TextRefused(EmbeddingFailed):
    """The model refuses these texts; other texts, or fewer, may succeed."""


class Embedder(Protocol):
    """An embedding model. Implementations are thread-safe."""

    @property
    def batch(self) -> int:
        """The number of texts of one call, which takes some seconds at most."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order. Raises EmbeddingFailed."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query. Raises EmbeddingFailed."""
        ...
