from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    """Not in one transaction: the sessions are not locked while the turns are looked through."""

    atomic = False
    dependencies = [("chat", "0071_call_ids_and_redirects")]

    operations = [
        migrations.AddField(
            "turn", "earlier_knowledge_bases", ArrayField(models.UUIDField(), size=None, null=True, blank=True)
        ),
        migrations.AddField("session", "has_picked_bases", models.BooleanField(default=False, db_default=False)),
        migrations.RunSQL(
            """
            UPDATE chat_session SET has_picked_bases = TRUE
            WHERE id IN (SELECT session_id FROM chat_turn WHERE knowledge_bases IS NOT NULL)
            """,
            migrations.RunSQL.noop,
        ),
    ]
