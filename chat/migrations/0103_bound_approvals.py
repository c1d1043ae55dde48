"""Approvals and rules of tools say which server and which tool they are about. Columns with defaults of the database."""

import hashlib
import json

from django.db import migrations, models

# As McpServer.address_digest has them at this time.
ADDRESS = ('transport', 'command', 'url', 'base_url', 'env', 'headers', 'query', 'sign_in')


def bind_rules(apps, schema_editor):
    """The rules that there are hold for the servers that have the names now."""
    servers = {server.name: server for server in apps.get_model('chat', 'McpServer').objects.defer('document')}
    for policy in apps.get_model('chat', 'ToolPolicy').objects.filter(name__contains='__'):
        if server := servers.get(policy.name.partition('__')[0]):
            address = json.dumps([getattr(server, name) for name in ADDRESS], sort_keys=True)
            policy.bound_to = [str(server.pk), hashlib.sha256(address.encode()).hexdigest()]
            policy.save(update_fields=['bound_to'])


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0102_refused_tools'),
    ]

    operations = [
        migrations.AddField(
            model_name='approval',
            name='changed',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='approval',
            name='tool_identity',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AddField(
            model_name='toolpolicy',
            name='bound_to',
            field=models.JSONField(db_default=[], default=list, editable=False),
        ),
        migrations.RunPython(bind_rules, migrations.RunPython.noop, elidable=True),
    ]
