"""CitedDocument: a document that an answer cites, under the number the model read."""

from django.db import models

from chat.models.message import ChatMessage


class CitedDocument(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="citations")
    number = models.IntegerField()
    document_id = models.CharField(max_length=500)
    title = models.TextField(blank=True, default="")
    url = models.TextField(blank=True, default="")

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="one_citation_per_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="citation_number_positive"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.title}"
