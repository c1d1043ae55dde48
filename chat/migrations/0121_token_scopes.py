import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    """What an API token may do below /v1/, its limits, and its use. 0122 validates the constraints."""

    dependencies = [
        ('chat', '0120_default_limits'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.UUIDField()),
                ('day', models.DateField()),
                ('runs', models.IntegerField()),
                ('tokens', models.BigIntegerField()),
                ('cost', models.DecimalField(decimal_places=9, max_digits=18)),
            ],
            options={
                'indexes': [models.Index(fields=['token', 'day'], name='use_by_token_and_day')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='tokenscope',
            name='token_scope_known',
        ),
        migrations.AddField(
            model_name='tokenscope',
            name='agent',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chat.agent'),
        ),
        migrations.AddField(
            model_name='tokenscope',
            name='cost_per_day',
            field=models.DecimalField(blank=True, decimal_places=6, max_digits=18, null=True),
        ),
        migrations.AddField(
            model_name='tokenscope',
            name='last_used_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='tokenscope',
            name='tokens_per_day',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='turn',
            name='api_token',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='tokenscope',
            name='scope',
            field=models.CharField(choices=[('read', 'read'), ('write', 'write'), ('chat', 'chat'), ('agent', 'agent')], max_length=10),
        ),
        AddConstraintNotValid(
            model_name='tokenscope',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'write', 'chat', 'agent'])), name='token_scope_known'),
        ),
        AddConstraintNotValid(
            model_name='tokenscope',
            constraint=models.CheckConstraint(condition=models.Q(('agent', None), ('scope', 'agent'), _connector='OR'), name='token_for_an_agent_has_its_scope'),
        ),
        AddConstraintNotValid(
            model_name='tokenscope',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('tokens_per_day', None), ('tokens_per_day__gt', 0), _connector='OR'), models.Q(('cost_per_day', None), ('cost_per_day__gt', 0), _connector='OR')), name='token_limits_positive'),
        ),
    ]
