"""Adds thumbnails of pictures. A trigger records their paths like those of contents when a row loses them."""

from django.db import migrations, models

RECORD_BOTH = """
CREATE OR REPLACE FUNCTION knowledge_record_deleted_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.content <> '' AND (TG_OP = 'DELETE' OR NEW.content <> OLD.content) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.content);
    END IF;
    IF OLD.thumbnail <> '' AND (TG_OP = 'DELETE' OR NEW.thumbnail <> OLD.thumbnail) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.thumbnail);
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER knowledge_file_content ON knowledge_file;
CREATE TRIGGER knowledge_file_content AFTER DELETE OR UPDATE OF content, thumbnail ON knowledge_file
    FOR EACH ROW EXECUTE FUNCTION knowledge_record_deleted_blob();
"""
RECORD_CONTENT = """
CREATE OR REPLACE FUNCTION knowledge_record_deleted_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.content <> '' AND (TG_OP = 'DELETE' OR NEW.content <> OLD.content) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.content);
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER knowledge_file_content ON knowledge_file;
CREATE TRIGGER knowledge_file_content AFTER DELETE OR UPDATE OF content ON knowledge_file
    FOR EACH ROW EXECUTE FUNCTION knowledge_record_deleted_blob();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0004_file_passages'),
    ]

    operations = [
        migrations.AddField(
            model_name='file',
            name='thumbnail',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('thumbnail', ''), ('kind', 'image'), _connector='OR'), name='only_pictures_have_thumbnails'),
        ),
        migrations.RunSQL(RECORD_BOTH, RECORD_CONTENT),
    ]
