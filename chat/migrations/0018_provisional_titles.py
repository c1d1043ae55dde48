"""Renames Session.has_makeshift_title to has_provisional_title in Python alone; the column keeps its name, so that
processes of the version before can still read and write the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0017_makeshift_titles"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("session", "has_makeshift_title", "has_provisional_title"),
                migrations.AlterField(
                    model_name="session",
                    name="has_provisional_title",
                    field=models.BooleanField(
                        db_column="has_makeshift_title", db_default=False, default=False
                    ),
                ),
            ],
        ),
    ]
