from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Built beside the traffic: outside of a transaction, and waiting for the transactions that were open before."""

    atomic = False
    dependencies = [("chat", "0041_knowledge_bases")]

    operations = [
        migrations.RunSQL("SET lock_timeout = 0", "SET lock_timeout = 0"),
        # What an attempt that was interrupted has left: it is not used, and has the name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS session_event_by_age", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="sessionevent",
            index=models.Index(fields=["created_at"], name="session_event_by_age"),
        ),
        migrations.RunSQL("RESET lock_timeout", "RESET lock_timeout"),
    ]
