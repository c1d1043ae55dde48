

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0075_normal_words'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='McpServer',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text='The names of its tools begin with it: letters, digits, - and _.', max_length=30, unique=True)),
                ('transport', models.CharField(choices=[('stdio', 'stdio'), ('http', 'http')], max_length=5)),
                ('command', models.JSONField(blank=True, default=list, help_text='Of stdio: ["program", "argument"]. MCP_COMMANDS names the programs.')),
                ('url', models.CharField(blank=True, default='', help_text='Of http.', max_length=2000)),
                ('env', models.JSONField(blank=True, default=dict, help_text='{"NAME": "VARIABLE"}: the server gets NAME with the value that VARIABLE has for the workers.')),
                ('headers', models.JSONField(blank=True, default=dict, help_text='{"Header": "VARIABLE"}: requests have the value that VARIABLE has for the workers.')),
                ('approval', models.CharField(choices=[('never', 'never'), ('ask', 'ask'), ('ask_unless_read_only', 'ask unless read only')], default='ask_unless_read_only', help_text='Whether users are asked before a tool is called; a rule of the tool itself comes first.', max_length=20)),
                ('enabled_tools', models.JSONField(blank=True, default=list, help_text='Its own names of the tools that are offered; empty: all.')),
                ('is_enabled', models.BooleanField(default=True)),
                ('is_demo', models.BooleanField(default=False, editable=False, help_text='Of a trial: it comes with Turnwire, and MCP_COMMANDS need not name it.')),
                ('status', models.CharField(choices=[('ready', 'Ready'), ('down', 'Down'), ('needs_sign_in', 'Needs sign in')], default='down', editable=False, max_length=13)),
                ('problem', models.CharField(blank=True, default='', editable=False, max_length=500)),
                ('tools', models.JSONField(default=list, editable=False)),
                ('listed_at', models.DateTimeField(editable=False, null=True)),
                ('expires_at', models.DateTimeField(editable=False, null=True)),
                ('requested_at', models.DateTimeField(editable=False, null=True)),
                ('revision', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'MCP server',
                'ordering': ('name',),
                'constraints': [models.CheckConstraint(condition=models.Q(('transport__in', ['stdio', 'http'])), name='mcp_server_transport_known'), models.CheckConstraint(condition=models.Q(('status__in', ['ready', 'down', 'needs_sign_in'])), name='mcp_server_status_known'), models.CheckConstraint(condition=models.Q(('approval__in', ['never', 'ask', 'ask_unless_read_only'])), name='mcp_server_approval_known')],
            },
        ),
    ]
