"""Records the blobs of deleted or replaced files in the same transaction, whoever deletes the row."""

import django.db.models.functions.datetime
from django.db import migrations, models

RECORD = """
CREATE FUNCTION knowledge_record_deleted_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.content <> '' AND (TG_OP = 'DELETE' OR NEW.content <> OLD.content) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.content);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER knowledge_file_content AFTER DELETE OR UPDATE OF content ON knowledge_file
    FOR EACH ROW EXECUTE FUNCTION knowledge_record_deleted_blob();
"""
FORGET = """
DROP TRIGGER knowledge_file_content ON knowledge_file;
DROP FUNCTION knowledge_record_deleted_blob();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0002_extraction'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeletedBlob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.RunSQL(RECORD, FORGET),
    ]
