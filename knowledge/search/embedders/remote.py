"""Embeddings from a server with the API of OpenAI: POST /embeddings."""

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from knowledge.search.embedders.embedder import EmbeddingFailed, TextRefused, Vector

BATCH: Final = 64
# For a batch. The limit for a query is shorter, because a user waits for it.
TIMEOUT_S: Final = 60.0
QUERY_TIMEOUT_S: Final = 5.0
# The pause before each further attempt.
WAITS_S: Final = (0.5, 2.0)
# Statuses that do not depend on the texts: keys, paths, rates.
_TEMPORARY: Final = frozenset({401, 403, 404, 408, 409, 425, 429})


class RemoteEmbedder:
    """An embedding model of a server. url: the base URL, without /embeddings."""

    batch = BATCH

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self._url, self._model, self._key = f"{url.rstrip('/')}/embeddings", model, key

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        for wait_s in WAITS_S:
            try:
                return self._ask(texts, TIMEOUT_S)
            except TextRefused:
                raise
            except EmbeddingFailed:
                time.sleep(wait_s)
        return self._ask(texts, TIMEOUT_S)

    def embed_query(self, text: str) -> Vector:
        return self._ask([text], QUERY_TIMEOUT_S)[0]

    @cached_property
    def _client(self) -> Any:
        # Imported here, so that only processes that use it load it.
        import httpx2

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return httpx2.Client(headers=headers)

    def _ask(self, texts: Sequence[str], timeout_s: float) -> list[Vector]:
        import httpx2

        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._client.post(self._url, json=body, timeout=timeout_s)
        except httpx2.HTTPError as error:
            raise EmbeddingFailed(f"{type(error).__name__}: {error}") from error
        if answer.status_code != 200:
            refused = 400 <= answer.status_code < 500 and answer.status_code not in _TEMPORARY
            raise (TextRefused if refused else EmbeddingFailed)(f"HTTP status {answer.status_code}")
        try:
            return read_vectors(answer.json(), len(texts))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise EmbeddingFailed(f"not an answer with embeddings: {error}") from error


def read_vectors(answer: Any, count: int) -> list[Vector]:
    """Return the vectors in the order of the texts. Raises ValueError, TypeError, KeyError, AttributeError."""
    by_index = {int(one["index"]): [float(number) for number in one["embedding"]] for one in answer["data"]}
    vectors = [by_index[number] for number in range(count)]
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("the vectors are empty or not equally long")
    return vectors
