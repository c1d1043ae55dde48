"""Repair what crashes leave behind, until stopped. Two may run; one leads."""

from typing import Any

from django.core.management.base import BaseCommand

from chat.metrics.tally import keep_pushing
from chat.sweeper.process import Sweeper


class Command(BaseCommand):
    help = "Take over the runs of dead workers, wake what was lost, end what nobody ends; runs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        keep_pushing("sweeper")
        Sweeper().run()
