"""What a reader counted in a file in one column of JSON. Processes of the version before go on with a column for each number:
triggers keep both alike until a later version drops these columns (decision 0172)."""

from django.db import migrations

from knowledge.texts.reading import Reading
from knowledge.models.struct_field import StructField

COLUMNS = ("unread_pages", "shown_pages", "table_rows", "shown_rows")
# NULL: nothing was counted, as in most files.
READING = (
    "NULLIF(jsonb_strip_nulls(jsonb_build_object("
    + ", ".join(f"'{column}', NULLIF({{row}}{column}, 0)" for column in COLUMNS)
    + ")), '{{}}')"
)
FUNCTIONS = f"""
CREATE FUNCTION knowledge_file_reading_to_columns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {"".join(f"NEW.{column} := COALESCE((NEW.reading ->> '{column}')::bigint, 0); " for column in COLUMNS)}
    RETURN NEW;
END $$;
CREATE FUNCTION knowledge_file_columns_to_reading() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.reading := {READING.format(row="NEW.")};
    RETURN NEW;
END $$;
"""
NO_FUNCTIONS = "DROP FUNCTION knowledge_file_reading_to_columns(); DROP FUNCTION knowledge_file_columns_to_reading();"
CHANGED = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in COLUMNS)
TRIGGERS = f"""
CREATE TRIGGER file_new_reading BEFORE INSERT ON knowledge_file FOR EACH ROW
    WHEN (NEW.reading IS NOT NULL) EXECUTE FUNCTION knowledge_file_reading_to_columns();
CREATE TRIGGER file_new_columns BEFORE INSERT ON knowledge_file FOR EACH ROW
    WHEN (NEW.reading IS NULL) EXECUTE FUNCTION knowledge_file_columns_to_reading();
CREATE TRIGGER file_changed_reading BEFORE UPDATE OF reading ON knowledge_file FOR EACH ROW
    WHEN (OLD.reading IS DISTINCT FROM NEW.reading) EXECUTE FUNCTION knowledge_file_reading_to_columns();
CREATE TRIGGER file_changed_columns BEFORE UPDATE OF {", ".join(COLUMNS)} ON knowledge_file FOR EACH ROW
    WHEN ({CHANGED}) EXECUTE FUNCTION knowledge_file_columns_to_reading();
"""
NO_TRIGGERS = "".join(
    f"DROP TRIGGER file_{name} ON knowledge_file;"
    for name in ("new_reading", "new_columns", "changed_reading", "changed_columns")
)


class Migration(migrations.Migration):

    dependencies = [("knowledge", "0023_rows_of_tables")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE knowledge_file ADD COLUMN reading jsonb",
                    "ALTER TABLE knowledge_file DROP COLUMN reading",
                ),
                migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
                migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
            ],
            state_operations=[
                migrations.AddField("file", "reading", StructField(Reading)),
                *(migrations.RemoveField("file", column) for column in COLUMNS),
            ],
        ),
    ]
