"""Lets files be images that tools returned."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0021_page_pictures'),
    ]

    operations = [
        migrations.AddField(
            model_name='file',
            name='is_tool_image',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
