from django.db import migrations, models


class Migration(migrations.Migration):
    """Sessions in the trash that hold messages which were deleted from another session."""

    dependencies = [("chat", "0107_token_name")]

    operations = [
        migrations.AddField("session", "part_of", models.UUIDField(blank=True, editable=False, null=True)),
    ]
