from importlib import import_module

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

from knowledge.migration_operations import FillInBatches

SETTINGS = import_module("chat.migrations.0109_session_settings").SETTINGS


class Migration(migrations.Migration):
    """What sessions were given before 0109."""

    atomic = False
    dependencies = [("chat", "0109_session_settings")]

    operations = [
        FillInBatches("chat_session", "settings", SETTINGS.format(row="")),
        ValidateConstraint("session", "session_settings_known"),
    ]
