"""Agents get options, which stand below those of their chats. Beside traffic: a column with a constant default."""

from django.db import migrations, models

import chat.models.run_options


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0086_mcp_sign_ins'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='options',
            field=models.JSONField(blank=True, db_default=models.Value({}, output_field=models.JSONField()), default=dict),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.CheckConstraint(condition=chat.models.run_options.AreOptions(models.F('options')), name='agent_options_known'),
        ),
    ]
