"""Servers list their tools to each user who signs in. A table, and a column with a default of the database."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now


def sort_lists(apps, schema_editor):
    """What was listed with the sign-in of any one user is forgotten, and listed again when it is used next."""
    servers = apps.get_model('chat', 'McpServer').objects.exclude(tools=[])
    users = apps.get_model('chat', 'McpCredential').objects.filter(server=OuterRef('pk'), user__isnull=False)
    of_users = servers.filter(Exists(users), sign_in='user')
    of_users.update(tools=[], expires_at=Now())
    servers.update(is_listed=True)


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0103_bound_approvals'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='mcpserver',
            name='is_listed',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.CreateModel(
            name='McpToolList',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('revision', models.UUIDField()),
                ('tools', models.JSONField(default=list)),
                ('expires_at', models.DateTimeField()),
                ('server', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_lists', to='chat.mcpserver')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'MCP tool list',
                'constraints': [models.UniqueConstraint(fields=('server', 'user'), name='one_mcp_tool_list_of_a_user')],
            },
        ),
        migrations.RunPython(sort_lists, migrations.RunPython.noop, elidable=True),
    ]
