"""EmbeddingModel and ChunkVector: the vectors of chunks by embedding model, and the leases of the workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from knowledge.models.chunk import Chunk
from knowledge.models.sql.chunk_vectors import ADD_MISSING, COPY_EQUAL, WAIT_FOR
from knowledge.models.sql.fair_order import NEXT_VECTORS, WaitingVector

# Extended after each batch; a batch that takes longer may be computed twice, but is stored once.
LEASE: Final = timedelta(seconds=60)
_DELETED_AT_ONCE: Final = 5_000
# Parameters of the HNSW indexes (decision 0106). A change needs a migration that rebuilds all of them beside traffic.
_HNSW: Final = "m = 24, ef_construction = 128"


class RealField(models.FloatField[float, float]):
    """A floating-point number of 4 bytes."""

    def db_type(self, connection: Any) -> str:  # noqa: ARG002
        return "real"


class EmbeddingModelQuerySet(models.QuerySet["EmbeddingModel"]):
    # Mutators

    def claim(self, name: str) -> EmbeddingModel | None:
        """Lease the work of one model; None if another worker has it."""
        with transaction.atomic():
            model = self.free().filter(name=name).select_for_update(skip_locked=True).first()
            if model is not None:
                model.attempt += 1
                self.filter(pk=model.pk).update(attempt=model.attempt, lease_until=Now() + LEASE)
        return model

    def register(self, name: str) -> None:
        """Let every present and future chunk wait for a vector of this model. Idempotent.

        A replaced model has no vectors of later chunks, and has to become complete again.
        """
        if self.is_registered(name):
            return
        with transaction.atomic():
            _lock("EXCLUSIVE")
            model, _ = self.update_or_create(name=name, defaults={"completed_at": None})
            ChunkVector.objects.add_missing(model)

    # Queries

    def free(self) -> Self:
        """Filter the models that no worker has leased."""
        return self.filter(Q(lease_until__isnull=True) | Q(lease_until__lt=Now()))

    def chosen(self) -> EmbeddingModel | None:
        """Return the model that the settings name, once it is registered."""
        return self.filter(name=settings.EMBEDDINGS_MODEL).first()

    def is_registered(self, name: str) -> bool:
        """Return whether a model is serving, or registered and not complete yet."""
        model = self.filter(name=name).first()
        return model is not None and (model.completed_at is None or model == self.serving())

    def serving(self) -> EmbeddingModel | None:
        """Return the model for searches: the last to become complete, or the chosen one while none is complete."""
        complete = self.filter(completed_at__isnull=False).order_by("-completed_at", "-pk")
        return complete.first() or self.chosen()

    def in_use(self) -> list[EmbeddingModel]:
        """Return the models whose vectors new chunks get; the one for searches comes first."""
        found = [one for one in (self.serving(), self.chosen()) if one is not None]
        return list(dict.fromkeys(found))

    def unused(self) -> Self:
        """Filter the replaced models. Empty if the chosen model is not registered, because one of these may return."""
        if self.chosen() is None:
            return self.none()
        return self.exclude(pk__in=[model.pk for model in self.in_use()])


class EmbeddingModel(models.Model):
    """A registered embedding model. dimensions: None before its first vector.

    attempt: rises with each claim; the fencing token of a lease.
    completed_at: when every chunk had a vector; later chunks wait for theirs while searches use the model.
    latest_owner: the owner who had the last turn; 0: nobody.
    """

    name = models.CharField(max_length=200, unique=True)
    dimensions = models.IntegerField(null=True, blank=True)
    attempt = models.IntegerField(default=0, db_default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    latest_owner = models.BigIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EmbeddingModelQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(dimensions__gte=1), name="embedding_has_dimensions"),
        ]

    def __str__(self) -> str:
        return self.name

    # Mutators

    def extend_lease(self) -> bool:
        """Extend the lease. False if another worker has it."""
        return bool(self._as_held().update(lease_until=Now() + LEASE))

    def end_turn(self, owner: int) -> bool:
        """Extend the lease, and let the next owner have a turn. False if another worker has the lease."""
        self.latest_owner = owner
        return bool(self._as_held().update(lease_until=Now() + LEASE, latest_owner=owner))

    def release(self) -> None:
        self._as_held().update(lease_until=None)

    def complete(self) -> bool:
        """Let searches use this model from now on. False: chunks, perhaps added just now, still wait for a vector."""
        with transaction.atomic():
            _lock("EXCLUSIVE")
            ChunkVector.objects.add_missing(self)
            if ChunkVector.objects.waiting().filter(model=self).exists():
                return False
            type(self).objects.filter(pk=self.pk).update(completed_at=Now())
        return True

    def drop(self) -> int:
        """Delete the model, its index and its vectors, in short transactions; return the number of vectors.
        Can be repeated after an interruption.
        """
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS {self.index_name}")
        vectors, deleted = ChunkVector.objects.filter(model=self), 0
        while batch := list(vectors.values_list("pk", flat=True)[:_DELETED_AT_ONCE]):
            deleted += ChunkVector.objects.filter(pk__in=batch).delete()[0]
        self.delete()
        return deleted

    def set_dimensions(self, dimensions: int) -> None:
        """Store the dimensions, and create the HNSW index of this model's vectors. Needs the extension. Idempotent."""
        halfvec = f"halfvec({dimensions:d})"
        with transaction.atomic(), connection.cursor() as cursor:
            self.dimensions = dimensions
            self.save(update_fields=["dimensions"])
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {self.index_name} ON knowledge_chunkvector "
                f"USING hnsw ((vector::{halfvec}) halfvec_cosine_ops) WITH ({_HNSW}) WHERE model_id = {self.pk:d}"
            )

    # Properties

    @property
    def index_name(self) -> str:
        return f"chunk_vector_of_{self.pk:d}"

    def _as_held(self) -> EmbeddingModelQuerySet:
        return type(self).objects.filter(pk=self.pk, attempt=self.attempt, lease_until__isnull=False)


class ChunkVectorQuerySet(models.QuerySet["ChunkVector"]):
    # Mutators

    def wait_for(self, chunks: Iterable[Chunk]) -> None:
        """Add a row for each new chunk and model, in the transaction that adds the chunks.

        It has the vector of a chunk with the same text, of the file's previous version or of another file, or none.
        """
        _lock("ROW SHARE")
        pks = [chunk.pk for chunk in chunks]
        with connection.cursor() as cursor:
            for model in EmbeddingModel.objects.in_use():
                cursor.execute(WAIT_FOR, {"model": model.pk, "chunks": pks})

    def add_missing(self, model: EmbeddingModel) -> int:
        """Add a row without a vector for each chunk that has no row of this model; return how many."""
        with connection.cursor() as cursor:
            cursor.execute(ADD_MISSING, {"model": model.pk})
            return int(cursor.rowcount)

    def copy_equal(self, model: EmbeddingModel, pks: Sequence[int]) -> set[int]:
        """Copy vectors of chunks with the same text to the rows of `pks` that have none; return the filled rows."""
        with connection.cursor() as cursor:
            cursor.execute(COPY_EQUAL, {"model": model.pk, "vectors": list(pks)})
            return {pk for (pk,) in cursor.fetchall()}

    def record(self, pk: int, vector: list[float]) -> bool:
        """Store a vector once. False: the chunk was deleted, or another worker has stored it."""
        return bool(self.filter(pk=pk, vector__isnull=True).update(vector=vector))

    def lock_in_order(self) -> None:
        """Lock the rows until the transaction ends, in the order in which vectors are recorded, to avoid a deadlock."""
        list(self.order_by("id").select_for_update(of=("self",)).values_list("pk"))

    def give_up(self, pk: int, error: str) -> None:
        """Store the error of a text that the model refuses: searches find the chunk by its words alone."""
        self.filter(pk=pk, vector__isnull=True).update(error=error[:200])

    # Queries

    def waiting(self) -> Self:
        return self.filter(vector__isnull=True, error="")

    def next_turns(self, model: EmbeddingModel, most: int) -> list[WaitingVector]:
        """Return up to `most` rows that wait for this model, in the order in which they are computed."""
        with connection.cursor() as cursor:
            cursor.execute(NEXT_VECTORS, {"model": model.pk, "latest": model.latest_owner, "most": most})
            return [WaitingVector(*row) for row in cursor.fetchall()]


class ChunkVector(models.Model):
    """The vector of a chunk by one model. vector: None until it is computed.  error: why it will never be computed.

    owner: the file's owner when the chunk was stored, used only for the order of computation; 0: unknown.
    """

    id = models.BigAutoField(primary_key=True)
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    model = models.ForeignKey(EmbeddingModel, on_delete=models.CASCADE, db_index=False)
    owner = models.BigIntegerField(default=0, db_default=0)
    vector = ArrayField(RealField(), null=True, blank=True)
    error = models.CharField(max_length=200, blank=True, default="", db_default="")

    objects = ChunkVectorQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                F("model"),
                F("owner"),
                F("id"),
                name="vector_waiting_by_owner",
                condition=Q(vector__isnull=True, error=""),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["chunk", "model"], name="one_vector_per_model"),
            models.CheckConstraint(condition=Q(error="") | Q(vector__isnull=True), name="vector_or_error"),
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} by {self.model_id}"


def _lock(mode: str) -> None:
    """Lock the table of models until the transaction ends: a chunk stored during a registration would get no row."""
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE knowledge_embeddingmodel IN {mode} MODE")
