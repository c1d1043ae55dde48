"""Preferences of users. Beside traffic: a new table."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0080_validate_questions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='preferences', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('instructions', models.TextField(blank=True, db_default='', default='')),
                ('uses_instructions', models.BooleanField(db_default=True, default=True)),
            ],
            options={
                'verbose_name_plural': 'preferences',
            },
        ),
    ]
