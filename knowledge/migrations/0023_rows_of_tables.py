"""Files say how many rows of tables they show in part. Columns with defaults of the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('knowledge', '0022_tool_images'),
    ]

    operations = [
        migrations.AddField(
            model_name='file',
            name='shown_rows',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='file',
            name='table_rows',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
    ]
