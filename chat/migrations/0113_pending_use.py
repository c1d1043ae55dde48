import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("chat", "0112_ready_run_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="PendingUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("day", models.DateField()),
                ("runs", models.IntegerField()),
                ("tokens", models.BigIntegerField()),
                ("cost", models.DecimalField(decimal_places=9, max_digits=18)),
                ("is_estimated", models.BooleanField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
