from django.db import migrations

# A column that Django does not know: nobody loads it. Generated, so that every way of writing a message keeps it; null
# while an answer is being written (its tokens are counted at its end), so that a checkpoint costs no index anything.
# 100,000 characters: the rest of a longer text is not found, and Postgres takes no words over 1 MB.
WORDS = """
    ALTER TABLE chat_chatmessage ADD COLUMN words tsvector GENERATED ALWAYS AS (
        CASE WHEN role = 'user' OR (role = 'assistant' AND token_count > 0)
        THEN to_tsvector('simple', left(text, 100000)) END
    ) STORED
"""


class Migration(migrations.Migration):
    """What was said, and titles, found by their words."""

    dependencies = [("chat", "0014_shares")]

    operations = [
        migrations.RunSQL(WORDS, "ALTER TABLE chat_chatmessage DROP COLUMN words"),
        migrations.RunSQL(
            "CREATE INDEX message_by_words ON chat_chatmessage USING gin (words)",
            "DROP INDEX message_by_words",
        ),
        migrations.RunSQL(
            "CREATE INDEX session_by_title_words ON chat_session USING gin (to_tsvector('simple', title))",
            "DROP INDEX session_by_title_words",
        ),
    ]
