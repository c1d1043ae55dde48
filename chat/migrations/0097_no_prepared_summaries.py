from typing import Any

from django.db import migrations, models


def end_prepared(apps: Any, _editor: Any) -> None:
    apps.get_model("chat", "Compression").objects.filter(status="prepared").update(status="nothing")


class Migration(migrations.Migration):
    """Processes of the version before write the columns while this runs: a later version drops them (decision 0172)."""

    dependencies = [
        ("chat", "0096_openapi_documents"),
    ]

    operations = [
        # Rows are inserted without the column from now on.
        migrations.AlterField(
            model_name="compression",
            name="prepared_text",
            field=models.TextField(blank=True, default="", db_default=""),
        ),
        # Nobody would set the reference to null any more when its message is deleted.
        migrations.AlterField(
            model_name="compression",
            name="prepared_cutoff",
            field=models.ForeignKey(
                "chat.ChatMessage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
            ),
        ),
        migrations.RunPython(end_prepared, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name="compression", name="compression_status_known"),
                migrations.RemoveConstraint(model_name="compression", name="probe_score_is_a_share"),
                migrations.RemoveField(model_name="compression", name="prepared_cutoff"),
                migrations.RemoveField(model_name="compression", name="prepared_text"),
                migrations.RemoveField(model_name="compression", name="probe_score"),
                migrations.AlterField(
                    model_name="compression",
                    name="status",
                    field=models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("refused", "Refused"),
                            ("nothing", "Nothing"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                migrations.AddConstraint(
                    model_name="compression",
                    constraint=models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["queued", "running", "done", "failed", "refused", "nothing"])
                        ),
                        name="compression_status_known",
                    ),
                ),
            ],
        ),
    ]
