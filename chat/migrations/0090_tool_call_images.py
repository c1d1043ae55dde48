"""Images that tools returned. Whatever deletes the last call that has an image (a session, an account, SQL) deletes its file."""

import django.db.models.deletion
from django.db import migrations, models

# The lock: of two deletions side by side, the later one sees that it is the last; in one order, so that neither waits for the other.
DELETE_FILES = """
CREATE FUNCTION chat_delete_tool_images() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM knowledge_file WHERE id IN (SELECT file_id FROM gone) ORDER BY id FOR UPDATE;
    DELETE FROM knowledge_file AS file WHERE file.id IN (SELECT file_id FROM gone) AND file.is_tool_image
        AND NOT EXISTS (SELECT FROM chat_toolcallimage AS image WHERE image.file_id = file.id);
    RETURN NULL;
END $$;
CREATE TRIGGER chat_tool_call_images_deleted AFTER DELETE ON chat_toolcallimage
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION chat_delete_tool_images();
"""
KEEP_FILES = """
DROP TRIGGER chat_tool_call_images_deleted ON chat_toolcallimage;
DROP FUNCTION chat_delete_tool_images();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0089_agents_shared_with_users'),
        ('knowledge', '0022_tool_images'),
    ]

    operations = [
        migrations.CreateModel(
            name='ToolCallImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.SmallIntegerField()),
                ('file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_calls', to='knowledge.file')),
                ('tool_call', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='images', to='chat.toolcall')),
            ],
            options={
                'ordering': ('tool_call', 'position'),
                'constraints': [models.UniqueConstraint(fields=('tool_call', 'position'), name='one_tool_image_per_position')],
            },
        ),
        migrations.RunSQL(DELETE_FILES, KEEP_FILES),
    ]
