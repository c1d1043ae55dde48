"""Wires the project: settings, process entry points, embedded services. No other package may import it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
