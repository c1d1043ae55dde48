"""Permissions of staff to read texts and instructions, and the indexes of the admin's lists."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0005_thumbnails'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='file',
            options={'ordering': ('-created_at', '-id'), 'permissions': [('view_file_text', 'Can view extracted texts')]},
        ),
        migrations.AlterModelOptions(
            name='project',
            options={'ordering': ('-updated_at', '-id'), 'permissions': [('view_project_instructions', 'Can view the instructions of projects')]},
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(fields=['-created_at', '-id'], name='file_by_creation'),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['error_code'], name='file_failed'),
        ),
        migrations.AddIndex(
            model_name='project',
            index=models.Index(fields=['-updated_at', '-id'], name='project_by_update'),
        ),
    ]
