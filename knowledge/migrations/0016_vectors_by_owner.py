from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q

from knowledge.migration_operations import wait_for_locks, wait_no_longer


class Migration(migrations.Migration):
    """Built beside the traffic: outside of a transaction, and waiting for the transactions that were open before."""

    atomic = False
    dependencies = [("knowledge", "0015_turns")]

    operations = [
        wait_for_locks(),
        # What an attempt that was interrupted has left: it is not used, and has the name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS vector_waiting_by_owner", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "chunkvector",
            models.Index(
                F("model"), F("owner"), F("id"), name="vector_waiting_by_owner", condition=Q(vector__isnull=True, error="")
            ),
        ),
        RemoveIndexConcurrently("chunkvector", "vector_waiting"),
        wait_no_longer(),
    ]
