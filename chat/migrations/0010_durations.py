from django.db import migrations, models


class Migration(migrations.Migration):
    """How long was thought, and how long calls ran."""

    dependencies = [("chat", "0009_summaries_by_session")]

    operations = [
        migrations.AddField("run", "reasoning_ms", models.IntegerField(blank=True, null=True)),
        migrations.AddField("toolcall", "duration_ms", models.IntegerField(blank=True, null=True)),
        migrations.AddField("toolcall", "reasoning_ms", models.IntegerField(blank=True, null=True)),
    ]
