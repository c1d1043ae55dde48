"""Formats of log records: text, or JSON lines (LOG_FORMAT=json), with the ids of chat/infrastructure/log_context.py.

A record whose message is a mapping (LLM_REQUEST, LLM_RESPONSE) is one JSON object on a line in both formats.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from chat.infrastructure import log_context

# It writes the attributes that ContextFilter adds, and merges messages that are mappings.
_JSON: Final = {
    "()": "config.json_lines.JsonLines",
    "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
    "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
    "datefmt": "%Y-%m-%dT%H:%M:%S%z",
    "json_ensure_ascii": False,
}
_FILTERS: Final = {
    "context": {"()": "config.log_format.ContextFilter"},
    "outages": {"()": "config.outage_filter.OutageFilter"},
}
LEVELS: Final = ("debug", "info", "warning", "error")
_LEVELLED: Final = (
    "celery",
    "chat",
    "compression",
    "config",
    "features",
    "ingest",
    "knowledge",
    "llm_worker",
    "web",
)


class ContextFilter(logging.Filter):
    """Adds the current ids to a record as attributes; drops none."""

    def filter(self, record: logging.LogRecord) -> bool:
        fields = log_context.current()
        record.context = fields
        for name, value in fields.items():
            record.__dict__.setdefault(name, value)
        return True


class TextFormatter(logging.Formatter):
    """Formats a record as `time LEVEL logger: message [run=… request_id=…]`."""

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record.msg, Mapping):
            return json.dumps(record.msg, ensure_ascii=False, default=str)
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  overrides logging.Formatter
        fields: Mapping[str, Any] = getattr(record, "context", {})
        ids = " ".join(f"{name}={value}" for name, value in fields.items())
        return f"{super().formatMessage(record)} [{ids}]" if ids else super().formatMessage(record)


def logging_settings(log_format: str, level: str = "warning", *, development: bool) -> dict[str, Any]:
    """Build Django's LOGGING: everything goes to stderr; errors of requests also go to ADMINS by mail.

    level: one of LEVELS, the lowest of our records and Celery's; WARNING for libraries, whose records may have keys.
    """
    text = {
        "()": "config.log_format.TextFormatter",
        "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
    }
    console = {"handlers": ["console"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": _FILTERS,
        "formatters": {"console": _JSON if log_format == "json" else text},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "console",
                "filters": ["context", "outages"],
            },
            "mail_admins": {"class": "django.utils.log.AdminEmailHandler", "level": "ERROR"},
            "null": {"class": "logging.NullHandler"},
        },
        "root": {"handlers": ["console"], "level": "ERROR" if level == "error" else "WARNING"},
        "loggers": {
            # Without a level of their own they have the root's level.
            **{name: {"level": level.upper()} for name in _LEVELLED if level != "warning"},
            # These libraries install handlers of their own.
            "django": {
                "handlers": ["console", "mail_admins"],
                "propagate": False,
                "level": "INFO" if development else "WARNING",
            },
            # No line for each 404, and no traceback for a host name that anybody may send.
            "django.request": {"level": "WARNING" if development else "ERROR"},
            "django.security.DisallowedHost": {"handlers": ["null"], "propagate": False},
            "uvicorn": {**console, "level": "WARNING"},
        },
    }
