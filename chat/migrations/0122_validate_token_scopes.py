from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chat", "0121_token_scopes")]

    operations = [
        ValidateConstraint("tokenscope", "token_scope_known"),
        ValidateConstraint("tokenscope", "token_for_an_agent_has_its_scope"),
        ValidateConstraint("tokenscope", "token_limits_positive"),
    ]
