from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0055_logins'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='deleted_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='purge_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        # 0047 validates it, beside the traffic.
        AddConstraintNotValid(
            model_name='session',
            constraint=models.CheckConstraint(
                condition=models.Q(deleted_at__isnull=True, purge_at__isnull=True)
                | models.Q(deleted_at__isnull=False, purge_at__isnull=False),
                name='session_in_trash_is_purged',
            ),
        ),
    ]
