"""config wires: settings, process entry points, embedded services. Nothing else may import it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
