"""Rows of models say which tools their server refuses and how many it takes. Columns with defaults of the database, or null."""

import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0101_mcp_pkce_and_structured'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelconfig',
            name='max_tools',
            field=models.PositiveSmallIntegerField(blank=True, help_text='How many tools its server takes in one request; of more, those used most are sent. Learned from its refusals; empty: any number.', null=True, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='modelconfig',
            name='refused_tools',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=[], default=list, help_text='Tools that its server refused, with a digest of their schemas: not sent until they change, or are removed here.', size=None),
        ),
    ]
