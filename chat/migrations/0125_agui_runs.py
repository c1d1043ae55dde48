import django.db.models.deletion
from django.db import migrations, models

# Django's own would refuse what deletes runs without knowing this table: version 0.2.0.
RUN_KEY = """
ALTER TABLE chat_aguirun ADD CONSTRAINT agui_run_has_a_run FOREIGN KEY (run_id)
    REFERENCES chat_run (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    dependencies = [("chat", "0124_later_responses")]

    operations = [
        migrations.CreateModel(
            name="AgUiRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("run", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.run")),
                ("session", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.session")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "name"), name="one_run_per_agui_name")],
            },
        ),
        migrations.RunSQL(RUN_KEY, migrations.RunSQL.noop),
    ]
