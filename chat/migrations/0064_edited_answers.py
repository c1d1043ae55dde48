import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0063_context_usage'),
    ]

    operations = [
        migrations.CreateModel(
            name='EditedAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(blank=True, default='', max_length=200)),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='edited', to='chat.chatmessage')),
                ('original', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chat.chatmessage')),
            ],
        ),
    ]
