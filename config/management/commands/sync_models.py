"""manage.py sync_models: creates the models that LLM_MODELS names, and reports rows that cannot be used.

`make run` calls it at every start.
"""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chat.models import McpServer, ModelConfig
from features.mcp.tool_lists import request_listing


class Command(BaseCommand):
    help = "Creates the models that LLM_MODELS names, and the MCP server of a trial. Existing models are not changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="Marks them as the built-in demo model.")
        parser.add_argument("--max-requests", type=int, help="That their server takes at once.")

    def handle(self, *_args: Any, **options: Any) -> None:
        ModelConfig.objects.configure(settings.LLM_MODELS, demo=options["demo"])
        if options["demo"]:
            notes = [
                sys.executable,
                str(settings.BASE_DIR / "demo" / "notes.py"),
                str(settings.DATA_DIR / "notes.json"),
            ]
            request_listing(McpServer.objects.offer_demo(notes))
        else:
            McpServer.objects.filter(is_demo=True).delete()
        if options["max_requests"]:
            unlimited = ModelConfig.objects.filter(
                name__in=settings.LLM_MODELS, base_url="", max_requests=None
            )
            unlimited.filter(provider=None).update(max_requests=options["max_requests"])
        for model in ModelConfig.objects.filter(name__in=settings.LLM_MODELS).exclude(provider=None):
            self.stderr.write(
                f"The model {model.name} of LLM_MODELS is that of the provider {model.provider}: give one of them another name."
            )
        for model in ModelConfig.objects.usable().select_related("provider"):
            for problem in model.problems().values():
                self.stderr.write(f"The model {model.name} cannot be used. {problem}")
