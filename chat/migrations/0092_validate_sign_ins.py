from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout


class Migration(migrations.Migration):
    """Beside the traffic: the constraints of 0091, and an index for the deletion of servers."""

    atomic = False

    dependencies = [
        ("chat", "0091_waiting_for_sign_ins"),
    ]

    operations = [
        ValidateConstraint("approval", "approval_decision_known"),
        ValidateConstraint("approval", "approval_question_has_form"),
        remove_lock_timeout(),
        AddMissingIndex(
            model_name="approval",
            index=models.Index(
                "server", condition=models.Q(("server__isnull", False)), name="approval_by_server"
            ),
        ),
        restore_lock_timeout(),
    ]
