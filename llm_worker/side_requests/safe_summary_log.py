"""Logs what restricted runs do with documents: always, whatever the worker's log level, and never what the documents say."""

import logging

from chat.infrastructure import log_context

logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)


def log_safe_summary(event: str, **fields: object) -> None:
    """One JSON object: the event, the ids of the run, and the fields."""
    logger.info({"event": event, **log_context.current(), **fields})
