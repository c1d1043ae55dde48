"""The Celery app: `celery -A config worker -P threads -c 200 -Q llm`. Its settings are in celery_settings.py."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# `make check` runs Django's checks; in a worker they would load the whole web side.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("turnwire", set_as_current=True)
# By name: read at first use, so that importing this package needs neither settings nor services.
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(["llm_worker"])
