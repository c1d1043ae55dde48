"""The settings of a session in one column of JSON. Processes of the version before go on with a column for each: triggers keep both
alike until a later version drops these columns (decision 0086)."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from chat.models.run_options import AreOptions
from chat.models.session import AreSettings, OptionsIn
from chat.transcript.answer_settings import SessionSettings
from knowledge.migration_operations import gather_columns
from knowledge.models.struct_field import StructField

COLUMNS = ("while_answering", "tools", "reminder", "prompt", "options", "knowledge_bases")
# NULL: nothing is set, as in most sessions.
SETTINGS = """NULLIF(
    CASE WHEN {row}while_answering <> 'enqueue' THEN jsonb_build_object('while_answering', {row}while_answering) ELSE '{{}}' END
    || CASE WHEN {row}tools <> '{{}}' THEN jsonb_build_object('tools', {row}tools) ELSE '{{}}' END
    || CASE WHEN {row}reminder <> '' THEN jsonb_build_object('reminder', {row}reminder) ELSE '{{}}' END
    || CASE WHEN {row}prompt <> '' THEN jsonb_build_object('prompt', {row}prompt) ELSE '{{}}' END
    || CASE WHEN {row}options <> '{{}}' THEN jsonb_build_object('options', {row}options) ELSE '{{}}' END
    || CASE WHEN {row}knowledge_bases <> '{{}}' THEN jsonb_build_object('knowledge_bases', {row}knowledge_bases) ELSE '{{}}' END,
    '{{}}')"""
COLUMNS_OF_SETTINGS = f"""
    -- Before 0117 has filled the column, the columns alone say what is set.
    IF TG_OP = 'UPDATE' AND OLD.settings IS NULL THEN
        NEW.settings := COALESCE({SETTINGS.format(row="OLD.")}, '{{}}') || NEW.settings;
    END IF;
    NEW.while_answering := COALESCE(NEW.settings ->> 'while_answering', 'enqueue');
    NEW.tools := ARRAY(SELECT jsonb_array_elements_text(COALESCE(NEW.settings -> 'tools', '[]')));
    NEW.reminder := COALESCE(NEW.settings ->> 'reminder', '');
    NEW.prompt := COALESCE(NEW.settings ->> 'prompt', '');
    NEW.options := COALESCE(NEW.settings -> 'options', '{{}}');
    NEW.knowledge_bases := ARRAY(SELECT jsonb_array_elements_text(COALESCE(NEW.settings -> 'knowledge_bases', '[]'))::uuid);
"""


class Migration(migrations.Migration):

    replaces = [("chat", "0108_deleted_messages"), ("chat", "0109_session_settings")]
    dependencies = [("chat", "0114_models_servers_and_links")]

    operations = [
        # Sessions in the trash that hold messages which were deleted from another session.
        migrations.AddField("session", "part_of", models.UUIDField(blank=True, editable=False, null=True)),
        # The one below holds for what processes of the version before write, too.
        migrations.RemoveConstraint("session", "session_options_known"),
        migrations.RemoveConstraint("session", "session_while_answering_known"),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL("ALTER TABLE chat_session ALTER COLUMN while_answering SET DEFAULT 'enqueue'"),
                *gather_columns("chat_session", "settings", COLUMNS, SETTINGS, COLUMNS_OF_SETTINGS),
            ],
            state_operations=[
                migrations.AddField("session", "settings", StructField(SessionSettings)),
                *(migrations.RemoveField("session", column) for column in COLUMNS),
            ],
        ),
        AddConstraintNotValid(
            "session",
            models.CheckConstraint(
                condition=models.Q(
                    AreSettings(models.F("settings")),
                    AreOptions(OptionsIn(models.F("settings"))),
                ),
                name="session_settings_known",
            ),
        ),
    ]
