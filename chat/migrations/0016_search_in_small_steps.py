from django.db import migrations


class Migration(migrations.Migration):
    """New words wait in a list until somebody's write sorts them in: 4 MB of them would hold up the end of an answer."""

    dependencies = [("chat", "0015_search")]

    operations = [
        migrations.RunSQL(
            "ALTER INDEX message_by_words SET (gin_pending_list_limit = 512)",  # kB
            "ALTER INDEX message_by_words RESET (gin_pending_list_limit)",
        ),
    ]
