"""Agents get what people see of them where they choose one. Beside traffic: columns with defaults of the database."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0076_mcp_servers'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='description',
            field=models.CharField(blank=True, db_default='', default='', max_length=300),
        ),
        migrations.AddField(
            model_name='agent',
            name='emoji',
            field=models.CharField(blank=True, db_default='', default='', max_length=16),
        ),
        migrations.AddField(
            model_name='agent',
            name='questions',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, help_text='What the page of a new chat with it suggests to ask.', size=None),
        ),
    ]
