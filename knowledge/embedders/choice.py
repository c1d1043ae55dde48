"""The model of embeddings that the settings name."""

from functools import cache

from django.conf import settings

from knowledge.embedders.embedder import Embedder
from knowledge.embedders.packaged import PACKAGED
from knowledge.embedders.remote import RemoteEmbedder


def chosen_embedder() -> Embedder | None:
    """The same in each call; None: searches find words alone."""
    return _embedder(settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_API_KEY)


@cache
def _embedder(url: str, model: str, key: str) -> Embedder | None:
    if not model:
        return None
    return RemoteEmbedder(url, model, key) if url else PACKAGED[model]()
