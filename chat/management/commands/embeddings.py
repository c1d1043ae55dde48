"""manage.py embeddings: shows models of embeddings and how far their vectors are; deletes those of former models."""

import time
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.runs.task_queue import enqueue_vectors
from knowledge.models import EmbeddingModel
from knowledge.search.indexing import (
    ModelProgress,
    ModelState,
    drop_unused,
    model_progress,
    usable_embedder,
    vectors_wait,
)
from knowledge.search.vector_extension import warn_of_absence

INTERVAL_S: Final = 5.0


class Command(BaseCommand):
    help = "Shows how far the vectors of each model of embeddings are. A change of EMBEDDINGS_MODEL is begun by the sweeper."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--start", action="store_true", help="Begin at once, and not with the sweeper.")
        parser.add_argument("--wait", action="store_true", help="Go on until searches use EMBEDDINGS_MODEL.")
        parser.add_argument(
            "--drop-unused",
            action="store_true",
            help="Delete the vectors and indexes of models that searches use no more.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        warn_of_absence(self.stderr.write)
        if options["start"]:
            self._start()
        progress = self._show()
        while options["wait"] and not _is_reached(progress):
            time.sleep(INTERVAL_S)
            progress = self._show()
        if options["drop_unused"]:
            for name in drop_unused():
                self.stdout.write(f"{name}: deleted")

    def _start(self) -> None:
        if not usable_embedder():
            raise CommandError("Searches go by words alone: by EMBEDDINGS_MODEL, or for want of pgvector.")
        EmbeddingModel.objects.register(settings.EMBEDDINGS_MODEL)
        if vectors_wait():
            enqueue_vectors()

    def _show(self) -> list[ModelProgress]:
        progress = model_progress()
        for one in progress:
            of = one.vectors + one.waiting
            refused = f", {one.refused} texts refused" if one.refused else ""
            size = f"index of {one.index_bytes / 2**20:.1f} MB"
            self.stdout.write(f"{one.name}: {one.state}, {one.vectors} of {of} vectors{refused}, {size}")
        return progress


def _is_reached(progress: list[ModelProgress]) -> bool:
    return any(one.name == settings.EMBEDDINGS_MODEL and one.state == ModelState.SERVING for one in progress)
