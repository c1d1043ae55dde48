"""The Celery app of the ingest process: `celery -A config.ingest_app worker -P prefork -Q ingest`.

Its processes hold no library that parses files: each file is read in a child process (ingest/child.py).
"""

import os

from celery import Celery

from config import worker_logging  # noqa: F401  receives a signal of Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("turnwire-ingest", set_as_current=True)
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(["ingest"])
