import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0036_daily_limits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField("session", "stored_bytes", models.BigIntegerField(default=0, db_default=0, editable=False)),
        migrations.AddField("session", "is_measured", models.BooleanField(default=False, db_default=False, editable=False)),
        # 0047 builds the index session_unmeasured beside the traffic.
        migrations.CreateModel(
            "StoredBytes",
            [
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stored_bytes",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("total", models.BigIntegerField(default=0, db_default=0)),
            ],
        ),
    ]
