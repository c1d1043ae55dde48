from django.db import migrations, models


class Migration(migrations.Migration):
    """What a list of sessions tells: which are being answered, and which have not been seen since."""

    dependencies = [("chat", "0010_durations")]

    operations = [
        migrations.AddField("session", "seen_event", models.BigIntegerField(default=0)),
        migrations.AddField("session", "answered_event", models.BigIntegerField(default=0)),
        migrations.AddIndex(
            "turn",
            models.Index(fields=["session"], name="turn_in_progress", condition=models.Q(ended_at=None)),
        ),
    ]
