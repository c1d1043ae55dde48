from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models

from knowledge.migration_operations import remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """Built beside the traffic: outside of a transaction, and waiting for the transactions that were open before."""

    atomic = False
    dependencies = [("chat", "0041_knowledge_bases")]

    operations = [
        remove_lock_timeout(),
        # What an attempt that was interrupted has left: it is not used, and has the name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS session_event_by_age", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="sessionevent",
            index=models.Index(fields=["created_at"], name="session_event_by_age"),
        ),
        ValidateConstraint("run", "run_access_known"),
        restore_lock_timeout(),
    ]
