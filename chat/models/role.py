"""Role: what a message of the tree is."""

from django.db import models


class Role(models.TextChoices):
    ROOT = "root"
    USER = "user"
    ASSISTANT = "assistant"
    SUMMARY = "summary"
