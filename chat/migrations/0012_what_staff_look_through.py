from django.db import migrations, models


class Migration(migrations.Migration):
    """What runs have been through, what requests were weighed against, and indexes for the orders of the admin's lists."""

    dependencies = [("chat", "0011_session_lists")]

    operations = [
        migrations.AddField(
            "run",
            "history",
            models.JSONField(
                db_default=models.Value([], output_field=models.JSONField()), default=list, editable=False
            ),
        ),
        migrations.AddField(
            "sentrequest",
            "parts",
            models.JSONField(
                blank=True,
                default=list,
                help_text="Of the others, each: its letter, and its tokens by our own count.",
            ),
        ),
        migrations.AddField(
            "sentrequest",
            "account",
            models.JSONField(
                blank=True,
                default=dict,
                help_text="What it was built for, and what of the branch it does not hold, and why.",
            ),
        ),
        migrations.AddIndex("chatmessage", models.Index(fields=["sent_at"], name="message_by_age")),
        migrations.AddIndex("session", models.Index(fields=["updated_at"], name="session_by_age")),
        migrations.AddIndex("turn", models.Index(fields=["created_at"], name="turn_by_age")),
        migrations.AddIndex("toolcall", models.Index(fields=["created_at"], name="tool_call_by_age")),
        migrations.AddIndex("run", models.Index(fields=["created_at"], name="run_by_age")),
        migrations.AddIndex("run", models.Index(fields=["ended_at"], name="run_by_end")),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=models.Q(("error_code", ""), _negated=True),
                fields=["error_code", "created_at"],
                name="run_by_error",
            ),
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=models.Q(("failures__gt", 0)), fields=["created_at"], name="run_taken_over"
            ),
        ),
    ]
