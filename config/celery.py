"""The Celery app of the llm workers: `celery -A config worker -P threads -c 200 -Q llm`.

Settings: celery_settings.py.
"""

import os

from celery import Celery

from config import worker_logging  # noqa: F401  receives a signal of Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# `make check` runs Django's system checks; in a worker they would import all of `web`.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("turnwire", set_as_current=True)
# A string is read at first use, so that importing this package requires neither settings nor services.
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(
    ["llm_worker", "features.mcp", "features.providers", "features.titles", "features.webhooks"]
)
