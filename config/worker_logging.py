"""Lets Celery's workers log as the other processes do: the signal keeps Celery from installing its own handlers."""

import logging.config
from typing import Any

from celery.signals import setup_logging
from django.conf import settings


@setup_logging.connect
def configure_logging(**_: Any) -> None:
    """Configure logging by LOG_LEVEL, not by the worker's option -l: with that, libraries would log texts and keys."""
    logging.config.dictConfig(settings.LOGGING)
