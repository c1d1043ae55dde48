from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0049_invitations'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='is_archived',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='session',
            name='is_pinned',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
