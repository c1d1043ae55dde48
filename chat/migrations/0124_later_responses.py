from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("chat", "0123_instructions_of_turns")]

    operations = [
        migrations.AddField(
            model_name='responserequest',
            name='later',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]
