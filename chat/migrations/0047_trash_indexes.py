from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """Built beside the traffic, as 0044."""

    atomic = False
    dependencies = [("chat", "0046_trash")]

    operations = [
        remove_lock_timeout(),
        # What an attempt that was interrupted has left: it is not used, and has the name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS session_trash", migrations.RunSQL.noop),
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS session_to_purge", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="session",
            index=models.Index(
                fields=["owner", "-deleted_at", "-id"],
                condition=models.Q(deleted_at__isnull=False),
                name="session_trash",
            ),
        ),
        AddIndexConcurrently(
            model_name="session",
            index=models.Index(
                fields=["purge_at"], condition=models.Q(purge_at__isnull=False), name="session_to_purge"
            ),
        ),
        # Of 0029, 0037, 0043 and 0046.
        AddMissingIndex(
            model_name="turn",
            index=models.Index(
                fields=["request_id"], condition=~models.Q(request_id=""), name="turn_by_request"
            ),
        ),
        AddMissingIndex(
            model_name="session",
            index=models.Index(
                fields=["id"], condition=models.Q(is_measured=False), name="session_unmeasured"
            ),
        ),
        ValidateConstraint("session", "session_in_trash_is_purged"),
        ValidateConstraint("siderequest", "side_request_is_for_run_or_compression"),
        restore_lock_timeout(),
    ]
