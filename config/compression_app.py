"""The Celery app of the compression process: `celery -A config.compression_app worker -P threads -c 4 -Q compression`.

An app of its own, since the llm workers' tasks would start a runtime for runs in any process that loads them.
"""

from celery import Celery

app = Celery("turnwire-compression", set_as_current=True)
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(["compression"])
