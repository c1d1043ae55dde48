"""Logs how restricted runs use documents: whatever the worker's log level, and never the contents of the documents."""

import logging

from chat.infrastructure import log_context

logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)


def log_safe_summary(event: str, **fields: object) -> None:
    """Log one JSON object: the event, the ids of the run, and the fields."""
    logger.info({"event": event, **log_context.current(), **fields})
