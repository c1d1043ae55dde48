from importlib import import_module

from django.db import migrations

from knowledge.migration_operations import FillInBatches

READING = import_module("knowledge.migrations.0026_reading").READING


class Migration(migrations.Migration):
    """What readers counted in files before 0026."""

    atomic = False
    replaces = [("knowledge", "0025_fill_reading")]
    dependencies = [("knowledge", "0026_reading")]

    operations = [FillInBatches("knowledge_file", "reading", READING.format(row=""))]
