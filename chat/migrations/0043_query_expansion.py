from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0041_sweeper_lease")]

    operations = [
        migrations.RemoveConstraint("siderequest", "side_request_is_for_run_or_compression"),
        migrations.AlterField(
            "siderequest",
            "purpose",
            models.CharField(
                choices=[
                    ("title", "Title"),
                    ("summary", "Summary"),
                    ("safe_summary", "Safe Summary"),
                    ("expansion", "Expansion"),
                ],
                max_length=12,
            ),
        ),
        # 0047 validates it, beside the traffic.
        AddConstraintNotValid(
            "siderequest",
            models.CheckConstraint(
                condition=models.Q(
                    purpose__in=["title", "safe_summary", "expansion"],
                    run__isnull=False,
                    compression__isnull=True,
                )
                | models.Q(purpose="summary", run__isnull=True, compression__isnull=False),
                name="side_request_is_for_run_or_compression",
            ),
        ),
    ]
