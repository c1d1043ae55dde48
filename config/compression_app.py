"""The Celery app of the compression process: `celery -A config.compression_app worker -P threads -c 4 -Q compression`.

Separate from the llm workers' app, because importing their tasks starts the runtime for runs.
"""

from celery import Celery

from config import worker_logging  # noqa: F401  receives a signal of Celery

app = Celery("turnwire-compression", set_as_current=True)
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(["compression"])
