from django.db import migrations, models

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout

# The table has a row per file: the key is added without reading the rows, and validated beside traffic.
ADD = """
ALTER TABLE knowledge_file ADD COLUMN IF NOT EXISTS page_of_id uuid, ADD COLUMN IF NOT EXISTS page integer;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'knowledge_file_page_of_id_fk') THEN
        ALTER TABLE knowledge_file ADD CONSTRAINT knowledge_file_page_of_id_fk FOREIGN KEY (page_of_id)
            REFERENCES knowledge_file (id) DEFERRABLE INITIALLY DEFERRED NOT VALID;
    END IF;
END $$;
"""
REMOVE = "ALTER TABLE knowledge_file DROP COLUMN page_of_id, DROP COLUMN page"
VALIDATE = "ALTER TABLE knowledge_file VALIDATE CONSTRAINT knowledge_file_page_of_id_fk"


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('knowledge', '0020_accepted_memberships'),
    ]

    operations = [
        migrations.AddField(
            model_name='file',
            name='shown_pages',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(
            ADD,
            REMOVE,
            state_operations=[
                migrations.AddField(
                    model_name='file',
                    name='page_of',
                    field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.deletion.CASCADE, related_name='page_pictures', to='knowledge.file'),
                ),
                migrations.AddField(
                    model_name='file',
                    name='page',
                    field=models.IntegerField(blank=True, null=True),
                ),
            ],
        ),
        migrations.RunSQL(VALIDATE, migrations.RunSQL.noop),
        remove_lock_timeout(),
        AddMissingIndex(
            model_name='file',
            index=models.Index(condition=models.Q(('page_of__isnull', False)), fields=['page_of', 'page'], name='file_page_pictures'),
        ),
        restore_lock_timeout(),
    ]
