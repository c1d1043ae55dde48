from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Built beside the traffic, as 0044."""

    atomic = False
    dependencies = [("chat", "0046_trash")]

    operations = [
        migrations.RunSQL("SET lock_timeout = 0", "SET lock_timeout = 0"),
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
        migrations.RunSQL("RESET lock_timeout", "RESET lock_timeout"),
    ]
