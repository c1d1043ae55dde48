"""Messages that an empty page offers, edited by staff. Beside traffic: a new table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0077_agents_people_see'),
    ]

    operations = [
        migrations.CreateModel(
            name='Suggestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.CharField(max_length=200)),
                ('position', models.PositiveSmallIntegerField(default=0, help_text='The lowest stands first; six are shown.')),
            ],
            options={
                'ordering': ('position', 'id'),
            },
        ),
    ]
