"""Registers chat as a Django app; the label is part of every table name."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
