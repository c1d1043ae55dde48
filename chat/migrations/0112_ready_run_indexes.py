from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout

LIVE = models.Q(status__in=["queued", "running", "stopping", "waiting"])
QUEUED = models.Q(status="queued")


class Migration(migrations.Migration):

    atomic = False
    dependencies = [("chat", "0111_ready_runs")]

    operations = [
        remove_lock_timeout(),
        AddMissingIndex("run", models.Index(fields=["asker_id"], name="run_live_of_user", condition=LIVE)),
        AddMissingIndex(
            "run",
            models.Index(fields=["ready_queue", "queued_at", "id"], name="run_ready", condition=QUEUED),
        ),
        AddMissingIndex(
            "run",
            models.Index(
                fields=["ready_queue", "asker_id", "queued_at", "id"],
                name="run_ready_of_user",
                condition=QUEUED,
            ),
        ),
        restore_lock_timeout(),
    ]
