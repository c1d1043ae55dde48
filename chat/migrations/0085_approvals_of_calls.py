import django.db.models.deletion
from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """A call waits more than once: for its approval, and for what it asks while it runs. Built beside the traffic.

    Django would make the foreign key anew, which reads the whole table.
    """

    atomic = False
    dependencies = [("chat", "0084_structured_results")]

    operations = [
        remove_lock_timeout(),
        AddMissingIndex(
            model_name="approval",
            index=models.Index(fields=["tool_call", "requested_at"], name="approval_by_call"),
        ),
        restore_lock_timeout(),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE chat_approval DROP CONSTRAINT IF EXISTS chat_approval_tool_call_id_key",
                    "ALTER TABLE chat_approval ADD CONSTRAINT chat_approval_tool_call_id_key UNIQUE (tool_call_id)",
                )
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="approval",
                    name="tool_call",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approvals",
                        related_query_name="approval",
                        to="chat.toolcall",
                    ),
                )
            ],
        ),
    ]
