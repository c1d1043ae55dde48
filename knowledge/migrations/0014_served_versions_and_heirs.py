"""Adds served versions of documents, heirs of bases of deleted accounts, and the time of the last change of a base that
restricted members see."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import knowledge.models.account_deletion

# The start value does not reveal later changes to restricted members.
DATE = "UPDATE knowledge_knowledgebase SET outline_updated_at = created_at"

# As in 0005, but the content of the served version stays.
RECORD_UNSERVED = """
CREATE OR REPLACE FUNCTION knowledge_record_deleted_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.content <> '' AND (TG_OP = 'DELETE' OR NEW.content <> OLD.content) AND NOT EXISTS (
        SELECT FROM knowledge_servedversion AS served WHERE served.document_id = OLD.id AND served.content = OLD.content
    ) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.content);
    END IF;
    IF OLD.thumbnail <> '' AND (TG_OP = 'DELETE' OR NEW.thumbnail <> OLD.thumbnail) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.thumbnail);
    END IF;
    RETURN NULL;
END $$;
"""
RECORD_ALL = """
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
"""
# A ready document serves its own version.
END_SERVED = """
CREATE FUNCTION knowledge_end_served_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM knowledge_servedversion WHERE document_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER knowledge_file_ready AFTER UPDATE OF status ON knowledge_file
    FOR EACH ROW WHEN (NEW.status = 'ready' AND OLD.status <> 'ready') EXECUTE FUNCTION knowledge_end_served_version();
CREATE FUNCTION knowledge_record_served_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.content <> '' AND NOT EXISTS (
        SELECT FROM knowledge_file AS file WHERE file.id = OLD.document_id AND file.content = OLD.content
    ) THEN
        INSERT INTO knowledge_deletedblob (path) VALUES (OLD.content);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER knowledge_served_content AFTER DELETE ON knowledge_servedversion
    FOR EACH ROW EXECUTE FUNCTION knowledge_record_served_blob();
"""
KEEP_SERVED = """
DROP TRIGGER knowledge_served_content ON knowledge_servedversion;
DROP FUNCTION knowledge_record_served_blob();
DROP TRIGGER knowledge_file_ready ON knowledge_file;
DROP FUNCTION knowledge_end_served_version();
"""
# The deletion of an account deletes its memberships first. Locks as in changes of members: the base before the members.
PASS_ON = """
CREATE FUNCTION knowledge_pass_on_bases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held knowledge_knowledgebase.id%TYPE;
    heir knowledge_knowledgebase.owner_id%TYPE;
BEGIN
    FOR held IN SELECT id FROM knowledge_knowledgebase WHERE owner_id = OLD.id ORDER BY id FOR NO KEY UPDATE LOOP
        SELECT user_id INTO heir FROM knowledge_knowledgebasemember
            WHERE knowledge_base_id = held AND role = 'owner' AND user_id <> OLD.id
            ORDER BY created_at, id LIMIT 1 FOR KEY SHARE;
        IF heir IS NOT NULL THEN
            UPDATE knowledge_knowledgebase SET owner_id = heir, updated_at = now(), outline_updated_at = now() WHERE id = held;
        END IF;
    END LOOP;
    UPDATE knowledge_file AS file SET owner_id = base.owner_id FROM knowledge_knowledgebase AS base
        WHERE file.owner_id = OLD.id AND base.id = file.knowledge_base_id AND base.owner_id <> OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER knowledge_account_deleted BEFORE DELETE ON auth_user
    FOR EACH ROW EXECUTE FUNCTION knowledge_pass_on_bases();
"""
DELETE_WITH_ACCOUNT = """
DROP TRIGGER knowledge_account_deleted ON auth_user;
DROP FUNCTION knowledge_pass_on_bases();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0013_denser_vector_index'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ServedVersion',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='served', serialize=False, to='knowledge.file')),
                ('name', models.CharField(max_length=255)),
                ('url', models.TextField(blank=True, default='')),
                ('content_type', models.CharField(max_length=200)),
                ('size_bytes', models.BigIntegerField()),
                ('content', models.FileField(blank=True, max_length=200, upload_to='')),
            ],
        ),
        migrations.AddField(
            model_name='knowledgebase',
            name='outline_updated_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AlterField(
            model_name='file',
            name='owner',
            field=models.ForeignKey(on_delete=knowledge.models.account_deletion.cascade_unless_document, related_name='files', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='knowledgebase',
            name='owner',
            field=models.ForeignKey(on_delete=knowledge.models.account_deletion.cascade_without_another_owner, related_name='knowledge_bases', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunSQL(DATE, migrations.RunSQL.noop),
        migrations.RunSQL(RECORD_UNSERVED, RECORD_ALL),
        migrations.RunSQL(END_SERVED, KEEP_SERVED),
        migrations.RunSQL(PASS_ON, DELETE_WITH_ACCOUNT),
    ]
