"""What a reader counted in a file in one column of JSON. Processes of the version before go on with a column for each number:
triggers keep both alike until a later version drops these columns (decision 0086)."""

from django.db import migrations, models

from knowledge.migration_operations import gather_columns
from knowledge.models.struct_field import StructField
from knowledge.texts.reading import Reading

COLUMNS = ("unread_pages", "shown_pages", "table_rows", "shown_rows")
# NULL: nothing was counted, as in most files.
READING = (
    "NULLIF(jsonb_strip_nulls(jsonb_build_object("
    + ", ".join(f"'{column}', NULLIF({{row}}{column}, 0)" for column in COLUMNS)
    + ")), '{{}}')"
)
COLUMNS_OF_READING = "".join(f"NEW.{column} := COALESCE((NEW.reading ->> '{column}')::bigint, 0); " for column in COLUMNS)


class Migration(migrations.Migration):

    replaces = [("knowledge", "0023_rows_of_tables"), ("knowledge", "0024_reading")]
    dependencies = [("knowledge", "0001_version_0_2_0")]

    operations = [
        migrations.AddField(
            model_name='file',
            name='shown_rows',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='file',
            name='table_rows',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=gather_columns("knowledge_file", "reading", COLUMNS, READING, COLUMNS_OF_READING),
            state_operations=[
                migrations.AddField("file", "reading", StructField(Reading)),
                *(migrations.RemoveField("file", column) for column in COLUMNS),
            ],
        ),
    ]
