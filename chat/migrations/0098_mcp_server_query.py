"""Rows of OpenAPI documents name parameters of the query that all calls have, such as keys. A column with a default of the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0097_no_prepared_summaries'),
    ]

    operations = [
        migrations.AddField(
            model_name='mcpserver',
            name='query',
            field=models.JSONField(blank=True, db_default={}, default=dict, help_text='Of openapi, {"key": "VARIABLE"}: requests have ?key= with the value that VARIABLE has for the workers.'),
        ),
        migrations.AlterField(
            model_name='mcpserver',
            name='base_url',
            field=models.CharField(blank=True, db_default='', default='', help_text='Of openapi: where the operations are, if not where the document says; headers and query are sent there alone.', max_length=2000),
        ),
    ]
