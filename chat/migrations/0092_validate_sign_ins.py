from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, wait_for_locks, wait_no_longer


class Migration(migrations.Migration):
    """Beside the traffic: the constraints of 0091, and an index for the deletion of servers."""

    atomic = False

    dependencies = [
        ("chat", "0091_waiting_for_sign_ins"),
    ]

    operations = [
        ValidateConstraint("approval", "approval_decision_known"),
        ValidateConstraint("approval", "approval_question_has_form"),
        wait_for_locks(),
        AddMissingIndex(
            model_name="approval",
            index=models.Index(
                "server", condition=models.Q(("server__isnull", False)), name="approval_by_server"
            ),
        ),
        wait_no_longer(),
    ]
