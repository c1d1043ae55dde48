"""The change of the embedding model: its progress, and the deletion of replaced vectors (decision 0106)."""

from enum import StrEnum
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Q

from knowledge.models import ChunkVector, EmbeddingModel


class ModelState(StrEnum):
    SERVING = "searches use it"
    COMPUTING = "being computed"
    UNUSED = "not used"


class ModelProgress(NamedTuple):
    """The progress of one embedding model, in numbers of chunks.
    vectors: chunks with a vector.  refused: chunks whose text the model refuses.  waiting: chunks without a vector yet.
    """

    name: str
    state: ModelState
    vectors: int
    refused: int
    waiting: int
    index_bytes: int


def model_progress() -> list[ModelProgress]:
    """Return the progress of all models, in the order in which they were registered."""
    models = EmbeddingModel.objects
    states = {model.pk: ModelState.COMPUTING for model in models.in_use()}
    if serving := models.serving():
        states[serving.pk] = ModelState.SERVING
    rows = ChunkVector.objects.values("model").annotate(
        vectors=Count("pk", filter=Q(vector__isnull=False)),
        refused=Count("pk", filter=~Q(error="")),
        waiting=Count("pk", filter=Q(vector__isnull=True, error="")),
    )
    counts = {row["model"]: (row["vectors"], row["refused"], row["waiting"]) for row in rows.order_by()}
    return [
        ModelProgress(
            model.name,
            states.get(model.pk, ModelState.UNUSED),
            *counts.get(model.pk, (0, 0, 0)),
            index_bytes=_index_bytes(model),
        )
        for model in models.order_by("pk")
    ]


def drop_unused() -> list[str]:
    """Delete the models that another one has replaced, with their vectors and indexes; return their names."""
    unused = list(EmbeddingModel.objects.unused())
    for model in unused:
        model.drop()
    return [model.name for model in unused]


def _index_bytes(model: EmbeddingModel) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_relation_size(to_regclass(%s)), 0)", [model.index_name])
        [(size,)] = cursor.fetchall()
    return int(size)
