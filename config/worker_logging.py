"""Celery's workers log as the other processes do: the signal keeps Celery from installing handlers of its own."""

import logging.config
from typing import Any

from celery.signals import setup_logging
from django.conf import settings


@setup_logging.connect
def configure_logging(loglevel: int | None = None, **_: Any) -> None:
    """loglevel: the worker's option -l."""
    logging.config.dictConfig(settings.LOGGING)
    if loglevel is not None:
        logging.getLogger().setLevel(loglevel)
