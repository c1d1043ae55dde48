"""FilePassage: a part of a file's text, as searches in projects find it."""

from __future__ import annotations

from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models

from knowledge.models.file import File


class FilePassage(models.Model):
    """Stored by the first search that needs it (knowledge/search.py); the text of a file never changes."""

    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="passages", db_index=False)
    position = models.IntegerField()
    start = models.IntegerField()  # of the file's text, in characters
    text = models.TextField()
    # As they stand, and the stems of both languages: no file says in which one it is written.
    words = models.GeneratedField(
        expression=SearchVector("text", config="simple")
        + SearchVector("text", config="english")
        + SearchVector("text", config="german"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ("file", "position")
        constraints = [
            models.UniqueConstraint(fields=["file", "position"], name="one_passage_per_position"),
            models.CheckConstraint(
                condition=models.Q(position__gte=0, start__gte=0), name="file_passage_place_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} from {self.start}"
