import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Links by which branches are read; a link's leaf is in its session."""

    dependencies = [("chat", "0013_imported_runs")]

    operations = [
        migrations.CreateModel(
            name="Share",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "shows_details",
                    models.BooleanField(
                        default=False, help_text="Reasoning, and what tools were asked and answered."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "leaf",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.chatmessage"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="chat.session"
                    ),
                ),
            ],
            options={"ordering": ("-created_at", "-id")},
        ),
        migrations.RunSQL(
            "ALTER TABLE chat_share ADD CONSTRAINT share_leaf_in_same_session FOREIGN KEY (session_id, leaf_id) "
            "REFERENCES chat_chatmessage (session_id, id) DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE chat_share DROP CONSTRAINT share_leaf_in_same_session",
        ),
    ]
