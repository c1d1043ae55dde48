from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Built beside the traffic, as 0044."""

    atomic = False
    dependencies = [("chat", "0061_temporary_sessions_and_tags")]

    operations = [
        migrations.RunSQL("SET lock_timeout = 0", "SET lock_timeout = 0"),
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
        migrations.RunSQL("RESET lock_timeout", "RESET lock_timeout"),
    ]
