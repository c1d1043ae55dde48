import django.db.models.deletion
from django.db import migrations, models

# Django's own would refuse what deletes sessions without knowing this table: version 0.2.0.
SESSION_KEY = """
ALTER TABLE chat_conversationmetadata ADD CONSTRAINT conversation_metadata_has_a_session FOREIGN KEY (session_id)
    REFERENCES chat_session (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    dependencies = [("chat", "0126_agui_sessions")]

    operations = [
        migrations.CreateModel(
            name="ConversationMetadata",
            fields=[
                ("session", models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="+", serialize=False, to="chat.session")),
                ("metadata", models.JSONField(blank=True, default=dict)),
            ],
        ),
        migrations.RunSQL(SESSION_KEY, migrations.RunSQL.noop),
    ]
