from django.db import migrations, models


class Migration(migrations.Migration):
    """What came with an imported session is not counted as used here."""

    dependencies = [("chat", "0012_what_staff_look_through")]

    operations = [
        migrations.AddField("run", "is_imported", models.BooleanField(db_default=False, default=False)),
    ]
