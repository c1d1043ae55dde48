from importlib import import_module

from django.db import migrations

from knowledge.migration_operations import FillInBatches

READING = import_module("knowledge.migrations.0024_reading").READING


class Migration(migrations.Migration):
    """What readers counted in files before 0024."""

    atomic = False
    dependencies = [("knowledge", "0024_reading")]

    operations = [FillInBatches("knowledge_file", "reading", READING.format(row=""))]
