from django.db import migrations

# In a transaction of its own: one locks one of the tables that every turn reads and writes.
SESSION_KEY = """
ALTER TABLE chat_aguirun ADD CONSTRAINT agui_run_has_a_session FOREIGN KEY (session_id)
    REFERENCES chat_session (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    dependencies = [("chat", "0125_agui_runs")]

    operations = [migrations.RunSQL(SESSION_KEY, migrations.RunSQL.noop)]
