"""Stores the owners of chunks that wait for a vector, so that owners take turns (decision 0164)."""

from django.db import migrations, models

# Other rows have a vector. Rows that running processes of the previous release add count as nobody's.
FILL = """
UPDATE knowledge_chunkvector AS waiting SET owner = file.owner_id
FROM knowledge_chunk AS chunk JOIN knowledge_file AS file ON file.id = chunk.file_id
WHERE chunk.id = waiting.chunk_id AND waiting.vector IS NULL AND waiting.error = ''
"""


class Migration(migrations.Migration):

    dependencies = [("knowledge", "0014_served_versions_and_heirs")]

    operations = [
        migrations.AddField("chunkvector", "owner", models.BigIntegerField(db_default=0, default=0)),
        migrations.AddField("embeddingmodel", "latest_owner", models.BigIntegerField(db_default=0, default=0)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
