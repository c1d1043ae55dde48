"""Rows of MCP servers say whether PKCE is assumed, and whether models read structured content. Columns with defaults of the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0100_traits_of_thinking_and_roles'),
    ]

    operations = [
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
    ]
