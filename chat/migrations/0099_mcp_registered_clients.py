"""Rows of MCP servers name the client that staff have registered with an issuer. Columns with defaults of the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0098_mcp_server_query'),
    ]

    operations = [
        migrations.AddField(
            model_name='mcpserver',
            name='oauth_client_id',
            field=models.CharField(blank=True, db_default='', default='', help_text='The id of that client.', max_length=500),
        ),
        migrations.AddField(
            model_name='mcpserver',
            name='oauth_client_secret',
            field=models.CharField(blank=True, db_default='', default='', help_text='The variable of the workers that has the secret of that client; empty: it has none.', max_length=200),
        ),
        migrations.AddField(
            model_name='mcpserver',
            name='oauth_issuer',
            field=models.CharField(blank=True, db_default='', default='', help_text='Of http: the issuer with which staff have registered a client, if it accepts no others.', max_length=2000),
        ),
    ]
