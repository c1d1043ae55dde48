from django.db import migrations, models
from django.db.models import Value


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0016_vectors_by_owner")]

    operations = [
        migrations.AddField(
            "file",
            "tokens_by_encoding",
            models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True),
        ),
    ]
