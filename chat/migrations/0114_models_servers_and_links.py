"""Columns of models, MCP servers, rules, links and tokens with defaults of the database, and two tables."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import migrations, models

from knowledge.migration_operations import CreateTables


class Migration(migrations.Migration):

    replaces = [
        ("chat", "0100_traits_of_thinking_and_roles"),
        ("chat", "0101_mcp_pkce_and_structured"),
        ("chat", "0102_refused_tools"),
        ("chat", "0103_bound_approvals"),
        ("chat", "0104_mcp_tool_lists"),
        ("chat", "0105_share_expiry"),
        ("chat", "0107_token_name"),
        ("chat", "0113_pending_use"),
    ]
    dependencies = [
        ("chat", "0001_version_0_2_0"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='modelconfig',
            name='model_dialect_known',
        ),
        migrations.AlterField(
            model_name='modelconfig',
            name='dialect',
            field=ArrayField(base_field=models.CharField(choices=[('max_completion_tokens', 'max_completion_tokens'), ('no_stream_options', 'no_stream_options'), ('no_temperature', 'no_temperature'), ('no_parallel_tool_calls', 'no_parallel_tool_calls'), ('no_tool_choice', 'no_tool_choice'), ('no_system_role', 'no_system_role'), ('untagged_thinking', 'untagged_thinking'), ('short_call_ids', 'short_call_ids'), ('server_call_ids', 'server_call_ids'), ('alternating_roles', 'alternating_roles'), ('reasoning_content', 'reasoning_content')], max_length=40), blank=True, db_default=[], default=list, help_text='What its server refuses or omits. Learned from its refusals; forgotten when its address or name changes.', size=None),
        ),
        migrations.AddConstraint(
            model_name='modelconfig',
            constraint=models.CheckConstraint(condition=models.Q(('dialect__contained_by', ['max_completion_tokens', 'no_stream_options', 'no_temperature', 'no_parallel_tool_calls', 'no_tool_choice', 'no_system_role', 'untagged_thinking', 'short_call_ids', 'server_call_ids', 'alternating_roles', 'reasoning_content'])), name='model_dialect_known'),
        ),
        migrations.AddField(
            model_name='modelconfig',
            name='max_tools',
            field=models.PositiveSmallIntegerField(blank=True, help_text='How many tools its server takes in one request; of more, those used most are sent. Learned from its refusals; empty: any number.', null=True, validators=[MinValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='modelconfig',
            name='refused_tools',
            field=ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=[], default=list, help_text='Tools that its server refused, with a digest of their schemas: not sent until they change, or are removed here.', size=None),
        ),
        migrations.AddField(
            model_name='mcpserver',
            name='assumes_pkce',
            field=models.BooleanField(db_default=False, default=False, help_text='Of http: its issuer takes PKCE with S256, although its metadata does not say so (Entra ID, Cognito).'),
        ),
        migrations.AddField(
            model_name='mcpserver',
            name='sends_structured',
            field=models.BooleanField(db_default=True, default=True, help_text='Models read the structured content of an answer as well if its text leaves some of it out.'),
        ),
        migrations.AddField(
            model_name='mcpserver',
            name='is_listed',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='toolpolicy',
            name='bound_to',
            field=models.JSONField(db_default=[], default=list, editable=False),
        ),
        migrations.AddField(
            model_name='share',
            name='expires_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='tokenscope',
            name='name',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        CreateTables(
        migrations.CreateModel(
            name='McpToolList',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('revision', models.UUIDField()),
                ('tools', models.JSONField(default=list)),
                ('expires_at', models.DateTimeField()),
                ('server', models.ForeignKey(on_delete=models.CASCADE, related_name='tool_lists', to='chat.mcpserver')),
                ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'MCP tool list',
                'constraints': [models.UniqueConstraint(fields=('server', 'user'), name='one_mcp_tool_list_of_a_user')],
            },
        ),
        migrations.CreateModel(
            name="PendingUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("day", models.DateField()),
                ("runs", models.IntegerField()),
                ("tokens", models.BigIntegerField()),
                ("cost", models.DecimalField(decimal_places=9, max_digits=18)),
                ("is_estimated", models.BooleanField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        ),
    ]
