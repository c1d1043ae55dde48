"""The interface of models of embeddings. Pure."""

from collections.abc import Sequence
from typing import Protocol

Vector = list[float]


class EmbeddingFailed(Exception):
    """The model cannot be reached or is overloaded; the same texts may succeed later."""


class TextRefused(EmbeddingFailed):
    """The model answers that it does not accept these texts; others, or fewer, may succeed."""


class Embedder(Protocol):
    """Thread-safe."""

    @property
    def batch(self) -> int:
        """Texts of one call that take some seconds at most."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. Raises EmbeddingFailed."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Raises EmbeddingFailed."""
        ...
