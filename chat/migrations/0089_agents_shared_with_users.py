"""Agents are shared with single people, beside groups: a new table."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0088_options_of_agents'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='shared_with_users',
            field=models.ManyToManyField(blank=True, help_text='People who may use it, beside those groups.', related_name='agents_of_others', to=settings.AUTH_USER_MODEL),
        ),
    ]
