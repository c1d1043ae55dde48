"""manage.py sync_models: make the models that LLM_MODELS names. make run does it at every start."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chat.models import ModelConfig


class Command(BaseCommand):
    help = "Makes the models that LLM_MODELS names; what exists stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="They are the built-in demo model.")

    def handle(self, *_args: Any, **options: Any) -> None:
        ModelConfig.objects.configure(settings.LLM_MODELS, demo=options["demo"])
