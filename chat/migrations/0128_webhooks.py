import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Django's own would refuse what deletes users without knowing these tables: version 0.2.0.
KEYS = """
ALTER TABLE chat_webhook ADD CONSTRAINT webhook_has_an_owner FOREIGN KEY (owner_id)
    REFERENCES auth_user (id) ON DELETE CASCADE;
ALTER TABLE chat_webhookdelivery ADD CONSTRAINT webhook_delivery_has_a_webhook FOREIGN KEY (webhook_id)
    REFERENCES chat_webhook (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    dependencies = [("chat", "0127_conversation_metadata"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("url", models.CharField(max_length=2000)),
                ("encrypted_secret", models.TextField(editable=False)),
                ("is_enabled", models.BooleanField(default=True)),
                ("last_attempt_at", models.DateTimeField(editable=False, null=True)),
                ("last_status", models.SmallIntegerField(editable=False, null=True)),
                ("last_error", models.CharField(blank=True, default="", editable=False, max_length=40)),
                ("failures", models.IntegerField(default=0, editable=False)),
                ("dropped", models.IntegerField(default=0, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("owner", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ("-created_at", "-id"),
                "constraints": [models.CheckConstraint(condition=models.Q(("encrypted_secret", ""), _negated=True), name="webhook_has_a_secret")],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event", models.JSONField()),
                ("attempts", models.SmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField()),
                ("webhook", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="deliveries", to="chat.webhook")),
            ],
            options={"indexes": [models.Index(fields=["webhook", "next_attempt_at"], name="webhook_delivery_by_time")]},
        ),
        migrations.RunSQL(KEYS, migrations.RunSQL.noop),
    ]
