"""The choice of embedding models: the model that the settings name, and earlier ones."""

from functools import cache

from django.conf import settings

from knowledge.search.embedders.embedder import Embedder
from knowledge.search.embedders.packaged import PACKAGED, is_installed
from knowledge.search.embedders.remote import RemoteEmbedder


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
