"""The lines of LOG_FORMAT=json. They say what lines of text say, as members of an object."""

import logging
from typing import Any

from pythonjsonlogger.json import JsonFormatter


class JsonLines(JsonFormatter):
    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Leave out the attributes that libraries add to records.
        They are not redacted: Django's has the query of the request, Celery's the arguments of the task.
        """
        super().add_fields(log_data, record, message_dict)
        ids = getattr(record, "context", {})
        for name in record.__dict__.keys() - self.reserved_attrs - ids.keys() - message_dict.keys():
            log_data.pop(name, None)
