from django.db import migrations, models


class Migration(migrations.Migration):
    """What claims choose by. The sweeper sets it in the runs that wait now (RunQuerySet.line_up)."""

    dependencies = [("chat", "0110_fill_session_settings")]

    operations = [
        migrations.AddField("run", "asker_id", models.BigIntegerField(editable=False, null=True, verbose_name="user")),
        migrations.AddField(
            "run", "ready_queue", models.CharField(editable=False, max_length=50, null=True)
        ),
    ]
