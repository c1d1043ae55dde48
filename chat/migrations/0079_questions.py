"""Tool calls ask their users questions. Beside traffic: columns with defaults of the database, constraints that 0080 validates."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0078_suggestions'),
    ]

    operations = [
        migrations.AddField(
            model_name='approval',
            name='kind',
            field=models.CharField(choices=[('approval', 'Approval'), ('question', 'Question')], db_default='approval', default='approval', max_length=8),
        ),
        migrations.AddField(
            model_name='approval',
            name='message',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='approval',
            name='form',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='approval',
            name='answer',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='approval',
            name='decision',
            field=models.CharField(blank=True, choices=[('approved', 'Approved'), ('refused', 'Refused'), ('answered', 'Answered'), ('declined', 'Declined'), ('expired', 'Expired'), ('stopped', 'Stopped')], default='', max_length=8),
        ),
        migrations.RemoveConstraint(model_name='approval', name='approval_decision_known'),
        AddConstraintNotValid(
            model_name='approval',
            constraint=models.CheckConstraint(condition=models.Q(('decision__in', ['', 'approved', 'refused', 'answered', 'declined', 'expired', 'stopped'])), name='approval_decision_known'),
        ),
        AddConstraintNotValid(
            model_name='approval',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('form', ''), ('kind', 'approval')), models.Q(('kind', 'question'), models.Q(('form', ''), _negated=True)), _connector='OR'), name='approval_question_has_form'),
        ),
    ]
