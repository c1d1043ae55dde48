import django.contrib.postgres.fields
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0059_providers'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='temporary_until',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='tags',
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40), blank=True, db_default=[], default=list, size=None
            ),
        ),
        # 0062 validates it, beside the traffic.
        AddConstraintNotValid(
            model_name='session',
            constraint=models.CheckConstraint(
                condition=models.Q(temporary_until__isnull=True)
                | models.Q(is_pinned=False, is_archived=False, project__isnull=True),
                name='temporary_session_is_in_no_list',
            ),
        ),
    ]
