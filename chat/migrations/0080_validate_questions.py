from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    """Beside the traffic: the constraints of 0079."""

    atomic = False

    dependencies = [
        ('chat', '0079_questions'),
    ]

    operations = [
        ValidateConstraint('approval', 'approval_decision_known'),
        ValidateConstraint('approval', 'approval_question_has_form'),
    ]
