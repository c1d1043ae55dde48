"""Models that users have chosen for chats which name none. Beside traffic: a column with a constant default."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0081_preferences'),
    ]

    operations = [
        migrations.AddField(
            model_name='preferences',
            name='models',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None),
        ),
    ]
