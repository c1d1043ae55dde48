"""manage.py sweep_runs: runs a sweeper until it is terminated. Several may run; one of them leads."""

from typing import Any

from django.core.management.base import BaseCommand

from chat.metrics.tally import keep_pushing
from chat.sweeper.process import Sweeper


class Command(BaseCommand):
    help = (
        "Repairs what crashes leave behind: requeues or ends the runs of dead workers. Runs until terminated."
    )
    # Skipped as in workers (config/celery.py): the checks import all of `web`.
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        keep_pushing("sweeper")
        Sweeper().run()
