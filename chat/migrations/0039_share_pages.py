from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0035_run_spending")]
    operations = [
        migrations.AddField("share", "pages", models.JSONField(null=True, blank=True, editable=False)),
    ]
