from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q

from knowledge.migration_operations import remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """Builds the index beside traffic: outside of a transaction, after the end of all transactions opened before."""

    atomic = False
    dependencies = [("knowledge", "0015_turns")]

    operations = [
        remove_lock_timeout(),
        # An interrupted attempt leaves an unused index with this name.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS vector_waiting_by_owner", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "chunkvector",
            models.Index(
                F("model"), F("owner"), F("id"), name="vector_waiting_by_owner", condition=Q(vector__isnull=True, error="")
            ),
        ),
        RemoveIndexConcurrently("chunkvector", "vector_waiting"),
        restore_lock_timeout(),
    ]
