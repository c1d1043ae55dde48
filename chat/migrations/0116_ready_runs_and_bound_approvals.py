from django.db import migrations, models


class Migration(migrations.Migration):
    """What claims choose runs by: the sweeper sets it in the runs that wait now (RunQuerySet.line_up). What approvals are about."""

    replaces = [("chat", "0106_approval_summary"), ("chat", "0111_ready_runs")]
    dependencies = [("chat", "0115_session_settings")]

    operations = [
        migrations.AddField("run", "asker_id", models.BigIntegerField(editable=False, null=True, verbose_name="user")),
        migrations.AddField(
            "run", "ready_queue", models.CharField(editable=False, max_length=50, null=True)
        ),
        migrations.AddField(
            model_name='approval',
            name='changed',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='approval',
            name='tool_identity',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AddField(
            model_name='approval',
            name='summary',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=300),
        ),
    ]
