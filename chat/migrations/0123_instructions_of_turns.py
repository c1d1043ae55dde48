from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("chat", "0122_validate_token_scopes")]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='is_context_instructing',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
