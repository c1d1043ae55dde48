"""Adds the acceptance of memberships and of ownerships. Only owners who accepted inherit bases of a deleted account.

Existing rows are accepted, and so are rows that processes of the previous release add, which do not know the columns.
"""

from django.db import migrations, models

# As in 0014, except for the condition on heirs.
PASS_ON = """
CREATE OR REPLACE FUNCTION knowledge_pass_on_bases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held knowledge_knowledgebase.id%TYPE;
    heir knowledge_knowledgebase.owner_id%TYPE;
BEGIN
    FOR held IN SELECT id FROM knowledge_knowledgebase WHERE owner_id = OLD.id ORDER BY id FOR NO KEY UPDATE LOOP
        SELECT user_id INTO heir FROM knowledge_knowledgebasemember
            WHERE knowledge_base_id = held AND role = 'owner' AND user_id <> OLD.id{condition}
            ORDER BY created_at, id LIMIT 1 FOR KEY SHARE;
        IF heir IS NOT NULL THEN
            UPDATE knowledge_knowledgebase SET owner_id = heir, updated_at = now(), outline_updated_at = now() WHERE id = held;
        END IF;
    END LOOP;
    UPDATE knowledge_file AS file SET owner_id = base.owner_id FROM knowledge_knowledgebase AS base
        WHERE file.owner_id = OLD.id AND base.id = file.knowledge_base_id AND base.owner_id <> OLD.id;
    RETURN OLD;
END $$;
"""
TO_HEIRS = PASS_ON.replace("{condition}", " AND is_ownership_accepted")
TO_OWNERS = PASS_ON.replace("{condition}", "")


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0019_unread_pages'),
    ]

    operations = [
        migrations.AddField(
            model_name='knowledgebasemember',
            name='is_accepted',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='knowledgebasemember',
            name='is_ownership_accepted',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.RunSQL(TO_HEIRS, TO_OWNERS),
    ]
