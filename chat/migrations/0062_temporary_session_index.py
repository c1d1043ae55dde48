from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models

from knowledge.migration_operations import remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """Built beside the traffic, as 0044."""

    atomic = False
    dependencies = [("chat", "0061_temporary_sessions_and_tags")]

    operations = [
        remove_lock_timeout(),
        # What an attempt that was interrupted has left: it is not used, and has the name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS session_temporary", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="session",
            index=models.Index(
                fields=["temporary_until"],
                condition=models.Q(temporary_until__isnull=False),
                name="session_temporary",
            ),
        ),
        # Of 0053 and 0061.
        ValidateConstraint("run", "run_options_known"),
        ValidateConstraint("session", "session_options_known"),
        ValidateConstraint("session", "temporary_session_is_in_no_list"),
        restore_lock_timeout(),
    ]
