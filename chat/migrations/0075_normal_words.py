"""Messages and titles are found by the words of their normal form too, where these are others than those of the text (decision 0106).

Beside traffic: a nullable column that Django does not know, which triggers fill for new texts and batches for those that are there.
"""

from django.db import migrations

from knowledge.migration_operations import FillInBatches, build_index, remove_lock_timeout, restore_lock_timeout

# Those that have `words` (0015).
SEARCHED = "({row}role = 'user' OR {row}role = 'assistant' AND {row}token_count > 0)"
WORDS = "knowledge_other_words('simple', left({row}text, 100000))"
# An answer gets its words after its end: with a trigger before updates, Postgres would compute the generated columns of every
# message that is updated, whatever is changed in it.
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION chat_store_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.normal_words := {WORDS.format(row="NEW.")};
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION chat_change_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed tsvector := CASE WHEN {SEARCHED.format(row="NEW.")} THEN {WORDS.format(row="NEW.")} END;
BEGIN
    UPDATE chat_chatmessage SET normal_words = changed WHERE id = NEW.id AND normal_words IS DISTINCT FROM changed;
    RETURN NULL;
END $$;
"""
NO_FUNCTIONS = """
DROP FUNCTION chat_change_normal_words();
DROP FUNCTION chat_store_normal_words();
"""
NEEDED = f"{SEARCHED.format(row='NEW.')} AND octet_length(NEW.text) <> char_length(NEW.text)"
TRIGGERS = f"""
CREATE OR REPLACE TRIGGER chat_message_new_words BEFORE INSERT ON chat_chatmessage FOR EACH ROW
    WHEN ({NEEDED}) EXECUTE FUNCTION chat_store_normal_words();
CREATE OR REPLACE TRIGGER chat_message_changed_words AFTER UPDATE OF text, token_count ON chat_chatmessage FOR EACH ROW
    WHEN (OLD.normal_words IS NOT NULL OR {NEEDED}) EXECUTE FUNCTION chat_change_normal_words();
"""
NO_TRIGGERS = """
DROP TRIGGER chat_message_changed_words ON chat_chatmessage;
DROP TRIGGER chat_message_new_words ON chat_chatmessage;
"""
TITLES = "chat_session USING gin (knowledge_normal_words('simple', knowledge_normal_form(title)))"


class Migration(migrations.Migration):

    atomic = False
    dependencies = [("chat", "0074_max_requests"), ("knowledge", "0018_normal_words")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE chat_chatmessage ADD COLUMN IF NOT EXISTS normal_words tsvector",
            "ALTER TABLE chat_chatmessage DROP COLUMN normal_words",
        ),
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        FillInBatches(
            "chat_chatmessage", "normal_words", f"CASE WHEN {SEARCHED.format(row='')} THEN {WORDS.format(row='')} END"
        ),
        remove_lock_timeout(),
        # As in 0016: few words wait until somebody's write sorts them in.
        *build_index(
            "message_by_normal_words",
            "chat_chatmessage USING gin (normal_words) WITH (gin_pending_list_limit = 512) WHERE normal_words IS NOT NULL",
        ),
        *build_index("session_by_title_normal_words", TITLES),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS session_by_title_words",
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS session_by_title_words ON chat_session USING gin (to_tsvector('simple', title))",
        ),
        restore_lock_timeout(),
    ]
