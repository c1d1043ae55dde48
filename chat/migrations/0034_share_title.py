from django.db import migrations, models

# Links that exist show the title of now, and no later one.
STORE_TITLES = """
UPDATE chat_share SET title = chat_session.title FROM chat_session WHERE chat_session.id = chat_share.session_id
"""


class Migration(migrations.Migration):
    dependencies = [("chat", "0033_token_scopes")]
    operations = [
        migrations.AddField("share", "title", models.CharField(max_length=200, null=True, blank=True, editable=False)),
        migrations.RunSQL(STORE_TITLES, migrations.RunSQL.noop),
    ]
