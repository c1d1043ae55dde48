"""The settings of a session in one column of JSON. Processes of the version before go on with a column for each: triggers keep both
alike until a later version drops these columns (decision 0172)."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from chat.models.run_options import AreOptions
from chat.models.session import AreSettings, OptionsIn
from knowledge.models.struct_field import StructField
from chat.transcript.session_settings import SessionSettings

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
FUNCTIONS = f"""
CREATE FUNCTION chat_session_settings_to_columns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Before 0110 has filled the column, the columns alone say what is set.
    IF TG_OP = 'UPDATE' AND OLD.settings IS NULL THEN
        NEW.settings := COALESCE({SETTINGS.format(row="OLD.")}, '{{}}') || NEW.settings;
    END IF;
    NEW.while_answering := COALESCE(NEW.settings ->> 'while_answering', 'enqueue');
    NEW.tools := ARRAY(SELECT jsonb_array_elements_text(COALESCE(NEW.settings -> 'tools', '[]')));
    NEW.reminder := COALESCE(NEW.settings ->> 'reminder', '');
    NEW.prompt := COALESCE(NEW.settings ->> 'prompt', '');
    NEW.options := COALESCE(NEW.settings -> 'options', '{{}}');
    NEW.knowledge_bases := ARRAY(SELECT jsonb_array_elements_text(COALESCE(NEW.settings -> 'knowledge_bases', '[]'))::uuid);
    RETURN NEW;
END $$;
CREATE FUNCTION chat_session_columns_to_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- What only this version knows stays.
    NEW.settings := NULLIF(
        COALESCE(NEW.settings, '{{}}') - '{{{",".join(COLUMNS)}}}'::text[]
        || COALESCE({SETTINGS.format(row="NEW.")}, '{{}}'), '{{}}');
    RETURN NEW;
END $$;
"""
NO_FUNCTIONS = "DROP FUNCTION chat_session_settings_to_columns(); DROP FUNCTION chat_session_columns_to_settings();"
CHANGED = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in COLUMNS)
TRIGGERS = f"""
CREATE TRIGGER session_new_settings BEFORE INSERT ON chat_session FOR EACH ROW
    WHEN (NEW.settings IS NOT NULL) EXECUTE FUNCTION chat_session_settings_to_columns();
CREATE TRIGGER session_new_columns BEFORE INSERT ON chat_session FOR EACH ROW
    WHEN (NEW.settings IS NULL) EXECUTE FUNCTION chat_session_columns_to_settings();
CREATE TRIGGER session_changed_settings BEFORE UPDATE OF settings ON chat_session FOR EACH ROW
    WHEN (OLD.settings IS DISTINCT FROM NEW.settings) EXECUTE FUNCTION chat_session_settings_to_columns();
CREATE TRIGGER session_changed_columns BEFORE UPDATE OF {", ".join(COLUMNS)} ON chat_session FOR EACH ROW
    WHEN ({CHANGED}) EXECUTE FUNCTION chat_session_columns_to_settings();
"""
NO_TRIGGERS = "".join(
    f"DROP TRIGGER session_{name} ON chat_session;"
    for name in ("new_settings", "new_columns", "changed_settings", "changed_columns")
)


class Migration(migrations.Migration):

    dependencies = [("chat", "0108_deleted_messages")]

    operations = [
        # The one below holds for what processes of the version before write, too.
        migrations.RemoveConstraint("session", "session_options_known"),
        migrations.RemoveConstraint("session", "session_while_answering_known"),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE chat_session ADD COLUMN settings jsonb",
                    "ALTER TABLE chat_session DROP COLUMN settings",
                ),
                migrations.RunSQL(
                    "ALTER TABLE chat_session ALTER COLUMN while_answering SET DEFAULT 'enqueue'",
                    "ALTER TABLE chat_session ALTER COLUMN while_answering DROP DEFAULT",
                ),
                migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
                migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
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
