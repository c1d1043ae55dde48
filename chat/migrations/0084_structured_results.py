from django.db import migrations, models


class Migration(migrations.Migration):
    """A nullable column: instant, and unknown to older processes."""

    dependencies = [
        ('chat', '0082_default_models'),
    ]

    operations = [
        migrations.AddField(
            model_name='toolcall',
            name='structured',
            field=models.JSONField(blank=True, null=True),
        ),
    ]
