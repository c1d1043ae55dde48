import hashlib
import json
from importlib import import_module

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from knowledge.migration_operations import AddMissingIndex, FillInBatches, remove_lock_timeout, restore_lock_timeout

SETTINGS = import_module("chat.migrations.0115_session_settings").SETTINGS
# Nothing has used these columns since 0.2.0, which gave them up (decision 0086). A database that is made new has none.
PREPARED_SUMMARIES = [
    # Processes of 0.1 may have left some beside 0.2.0.
    "UPDATE chat_compression SET status = 'nothing' WHERE status = 'prepared'",
    """
ALTER TABLE chat_compression
    DROP COLUMN IF EXISTS prepared_text, DROP COLUMN IF EXISTS prepared_cutoff_id, DROP COLUMN IF EXISTS probe_score,
    DROP CONSTRAINT IF EXISTS compression_status_known,
    ADD CONSTRAINT compression_status_known
        CHECK (status IN ('queued', 'running', 'done', 'failed', 'refused', 'nothing')) NOT VALID
""",
]
LIVE = models.Q(status__in=["queued", "running", "stopping", "waiting"])
QUEUED = models.Q(status="queued")
# As McpServer.address_digest has them at this time.
ADDRESS = ('transport', 'command', 'url', 'base_url', 'env', 'headers', 'query', 'sign_in')


def bind_rules(apps, schema_editor):
    """The rules that there are hold for the servers that have the names now."""
    servers = {server.name: server for server in apps.get_model('chat', 'McpServer').objects.defer('document')}
    for policy in apps.get_model('chat', 'ToolPolicy').objects.filter(name__contains='__'):
        if server := servers.get(policy.name.partition('__')[0]):
            address = json.dumps([getattr(server, name) for name in ADDRESS], sort_keys=True)
            policy.bound_to = [str(server.pk), hashlib.sha256(address.encode()).hexdigest()]
            policy.save(update_fields=['bound_to'])


def sort_lists(apps, schema_editor):
    """What was listed with the sign-in of any one user is forgotten, and listed again when it is used next."""
    servers = apps.get_model('chat', 'McpServer').objects.exclude(tools=[])
    users = apps.get_model('chat', 'McpCredential').objects.filter(server=OuterRef('pk'), user__isnull=False)
    of_users = servers.filter(Exists(users), sign_in='user')
    of_users.update(tools=[], expires_at=Now())
    servers.update(is_listed=True)


class Migration(migrations.Migration):
    """Fills what 0114 and 0115 added, drops what 0.2.0 gave up, and builds the indexes of ready runs."""

    atomic = False
    replaces = [("chat", "0110_fill_session_settings"), ("chat", "0112_ready_run_indexes")]
    dependencies = [("chat", "0116_ready_runs_and_bound_approvals")]

    operations = [
        migrations.RunPython(bind_rules),
        migrations.RunPython(sort_lists),
        FillInBatches("chat_session", "settings", SETTINGS.format(row="")),
        ValidateConstraint("session", "session_settings_known"),
        migrations.RunSQL(PREPARED_SUMMARIES),
        ValidateConstraint("compression", "compression_status_known"),
        remove_lock_timeout(),
        AddMissingIndex("run", models.Index(fields=["asker_id"], name="run_live_of_user", condition=LIVE)),
        AddMissingIndex(
            "run",
            models.Index(fields=["ready_queue", "queued_at", "id"], name="run_ready", condition=QUEUED),
        ),
        AddMissingIndex(
            "run",
            models.Index(
                fields=["ready_queue", "asker_id", "queued_at", "id"],
                name="run_ready_of_user",
                condition=QUEUED,
            ),
        ),
        restore_lock_timeout(),
    ]
