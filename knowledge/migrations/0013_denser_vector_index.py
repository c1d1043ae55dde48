"""Rebuilds the index of every embedding model with more neighbours per vector, for better recall (decision 0109).

It is built beside traffic, which uses the former index until the new one is complete.
"""

from django.db import migrations, transaction

from knowledge.migration_operations import remove_lock_timeout, restore_lock_timeout

PARAMETERS = "m = 24, ef_construction = 128"
# In memory, an index of 100,000 vectors of 512 dimensions is built in minutes; the part that does not fit is slower.
MEMORY = "512MB"


def rebuild(apps, schema_editor):
    models = apps.get_model("knowledge", "EmbeddingModel").objects.filter(dimensions__isnull=False)
    for pk, dimensions in models.order_by("pk").values_list("pk", "dimensions"):
        name = f"chunk_vector_of_{pk:d}"
        if not _is_current(schema_editor, name):
            _build(schema_editor, name, pk, dimensions)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}_former")


def _build(schema_editor, name, pk, dimensions):
    """Build the index again. An interrupted attempt leaves an unused index with the new name."""
    execute = schema_editor.execute
    execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}_new")
    execute(
        f"CREATE INDEX CONCURRENTLY {name}_new ON knowledge_chunkvector "
        f"USING hnsw ((vector::halfvec({dimensions:d})) halfvec_cosine_ops) WITH ({PARAMETERS}) WHERE model_id = {pk:d}"
    )
    with transaction.atomic(schema_editor.connection.alias):
        execute(f"ALTER INDEX IF EXISTS {name} RENAME TO {name}_former")
        execute(f"ALTER INDEX {name}_new RENAME TO {name}")


def _is_current(schema_editor, name):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE oid = to_regclass(%s)", [name])
        row = cursor.fetchone()
    return row is not None and row[0] == PARAMETERS.replace(" ", "").split(",")


class Migration(migrations.Migration):

    atomic = False
    dependencies = [("knowledge", "0012_words_by_language")]

    operations = [
        remove_lock_timeout(),
        migrations.RunSQL(f"SET maintenance_work_mem = '{MEMORY}'", migrations.RunSQL.noop),
        migrations.RunPython(rebuild, migrations.RunPython.noop),
        migrations.RunSQL("RESET maintenance_work_mem", migrations.RunSQL.noop),
        restore_lock_timeout(),
    ]
