from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0062_temporary_session_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='context_usage',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
