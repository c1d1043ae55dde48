"""The tables of version 0.2.0, the oldest one that can be upgraded."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models
from django.db.models.functions import Now

import knowledge.models.owned_row
import knowledge.models.chunk_vector
import knowledge.models.file
from knowledge.migration_operations import CreateTables

# The name that the key has in databases of 0.2.0.
PAGE_OF = """
ALTER TABLE knowledge_file RENAME CONSTRAINT knowledge_file_page_of_id_f88d9495_fk_knowledge_file_id TO knowledge_file_page_of_id_fk
"""
# If it is not installed, or this role may not create it, searches use words alone (knowledge/search/vector_extension.py).
CREATE_EXTENSION = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'the extension vector is not created';
END $$
"""
# Stored inline: numbers do not compress, and are read with their row.
STORE_INLINE = """
ALTER TABLE knowledge_chunkvector ALTER COLUMN vector SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160)
"""
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HANGUL = r"\uac00-\ud7a3"
EITHER = UNSPACED + HANGUL
# As in knowledge/texts/searched_text.py. No function calls another: a restored dump builds indexes without a search path.
# Pairs of the first 50,000 characters only, so that no text of 100,000 characters exceeds the megabyte of words that
# Postgres accepts.
NORMAL_WORDS = rf"""
CREATE FUNCTION knowledge_normal_form(value text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(lower(replace(normalize(value, NFKC), 'İ', 'i')), 'ß', 'ss'), 'ς', 'σ')
$$;
CREATE FUNCTION knowledge_normal_words(config regconfig, form text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    words text;
    singles text;
    runs text;
    pairs text;
BEGIN
    IF form !~ '[{EITHER}]' THEN
        RETURN to_tsvector(config, form);
    END IF;
    words := regexp_replace(form, '[{UNSPACED}]+', ' ', 'g');
    IF words ~ '[{HANGUL}]' THEN
        words := regexp_replace(words, '([^{HANGUL}\s])([{HANGUL}])', '\1 \2', 'g');
        words := regexp_replace(words, '([{HANGUL}])([^{HANGUL}\s])', '\1 \2', 'g');
    END IF;
    singles := array_to_string(string_to_array(regexp_replace(form, '[^{UNSPACED}]+', '', 'g'), NULL), ' ');
    runs := regexp_replace(left(form, 50000), '[^{EITHER}]+', ' ', 'g');
    SELECT string_agg(pair, ' ') INTO pairs FROM (
        SELECT one || lead(one) OVER (ORDER BY number) AS pair
        FROM unnest(string_to_array(runs, NULL)) WITH ORDINALITY AS character(one, number)
    ) AS every WHERE strpos(pair, ' ') = 0;
    RETURN to_tsvector(config, words) || to_tsvector('simple', singles) || to_tsvector('simple', coalesce(pairs, ''));
END $$;
CREATE FUNCTION knowledge_other_words(config regconfig, value text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    form text;
BEGIN
    IF octet_length(value) = char_length(value) THEN
        RETURN NULL;
    END IF;
    form := left(knowledge_normal_form(value), 100000);
    IF form = lower(value) AND form !~ '[{EITHER}]' THEN
        RETURN NULL;
    END IF;
    RETURN nullif(knowledge_normal_words(config, form), to_tsvector(config, value));
END $$;
CREATE FUNCTION knowledge_store_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.normal_words := knowledge_other_words(NEW.language::regconfig, NEW.text);
    RETURN NEW;
END $$;
-- Unknown to Django, because no code loads it. Texts of chunks do not change.
ALTER TABLE knowledge_chunk ADD COLUMN normal_words tsvector;
CREATE TRIGGER knowledge_chunk_normal_words BEFORE INSERT ON knowledge_chunk FOR EACH ROW
    WHEN (octet_length(NEW.text) <> char_length(NEW.text)) EXECUTE FUNCTION knowledge_store_normal_words();
CREATE INDEX chunk_normal_words_english ON knowledge_chunk USING gin (normal_words)
    WHERE language = 'english' AND normal_words IS NOT NULL;
CREATE INDEX chunk_normal_words_german ON knowledge_chunk USING gin (normal_words)
    WHERE language = 'german' AND normal_words IS NOT NULL;
CREATE INDEX chunk_normal_words_simple ON knowledge_chunk USING gin (normal_words)
    WHERE language = 'simple' AND normal_words IS NOT NULL;
"""
# The blobs of deleted or replaced files are recorded in the same transaction, whoever deletes the row. The content of the
# served version stays.
RECORD_DELETED = """
CREATE FUNCTION knowledge_record_deleted_blob() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER knowledge_file_content AFTER DELETE OR UPDATE OF content, thumbnail ON knowledge_file
    FOR EACH ROW EXECUTE FUNCTION knowledge_record_deleted_blob();
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
# The deletion of an account deletes its memberships first. Locks as in changes of members: the base before the members.
PASS_ON = """
CREATE FUNCTION knowledge_pass_on_bases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held knowledge_knowledgebase.id%TYPE;
    heir knowledge_knowledgebase.owner_id%TYPE;
BEGIN
    FOR held IN SELECT id FROM knowledge_knowledgebase WHERE owner_id = OLD.id ORDER BY id FOR NO KEY UPDATE LOOP
        SELECT user_id INTO heir FROM knowledge_knowledgebasemember
            WHERE knowledge_base_id = held AND role = 'owner' AND user_id <> OLD.id AND is_ownership_accepted
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


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("knowledge", name)
        for name in (
            "0001_initial", "0002_extraction", "0003_deleted_blobs", "0004_file_passages", "0005_thumbnails",
            "0006_staff_pages", "0007_chunks", "0008_knowledge_bases", "0010_complete_embeddings", "0011_documents",
            "0012_words_by_language", "0013_denser_vector_index", "0014_served_versions_and_heirs", "0015_turns",
            "0016_vectors_by_owner", "0017_tokens_by_encoding", "0018_normal_words", "0019_unread_pages",
            "0020_accepted_memberships", "0021_page_pictures", "0022_tool_images",
        )
    ]
    dependencies = [
        # Not needed, but faster before the tables of this project: each of their operations renders all models there are.
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateTables(
            migrations.CreateModel(
                name='DeletedBlob',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('path', models.CharField(max_length=200)),
                    ('created_at', models.DateTimeField(db_default=Now())),
                ],
            ),
            migrations.CreateModel(
                name='File',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(help_text='As it is shown.', max_length=255)),
                    ('content_type', models.CharField(default='text/plain', max_length=200)),
                    ('kind', models.CharField(choices=[('text', 'Text'), ('image', 'Image'), ('tabular', 'Tabular')], default='text', max_length=7)),
                    ('size_bytes', models.BigIntegerField(default=0)),
                    ('content', models.FileField(blank=True, max_length=200, upload_to=knowledge.models.file.stored_as)),
                    ('status', models.CharField(choices=[('processing', 'Processing'), ('ready', 'Ready'), ('failed', 'Failed')], default='processing', max_length=10)),
                    ('error_code', models.CharField(blank=True, default='', max_length=40)),
                    ('text', models.TextField(blank=True, default='')),
                    ('token_count', models.IntegerField(default=0)),
                    ('width_px', models.IntegerField(blank=True, null=True)),
                    ('height_px', models.IntegerField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('owner', models.ForeignKey(on_delete=knowledge.models.owned_row.cascade_unless_document, related_name='files', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='files', to='knowledge.project')),
                    ('announced_at', models.DateTimeField(blank=True, null=True)),
                    ('attempt', models.IntegerField(db_default=0, default=0)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('failures', models.IntegerField(db_default=0, default=0)),
                    ('lease_until', models.DateTimeField(blank=True, null=True)),
                    ('queued_at', models.DateTimeField(db_default=Now())),
                    ('thumbnail', models.CharField(blank=True, db_default='', default='', max_length=200)),
                    ('chunks_version', models.IntegerField(blank=True, null=True)),
                    ('has_stale_chunks', models.BooleanField(db_default=False, default=False)),
                    ('content_hash', models.BinaryField(blank=True, max_length=32, null=True)),
                    ('url', models.TextField(blank=True, db_default='', default='')),
                    ('knowledge_base', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='documents', to='knowledge.knowledgebase')),
                    ('chunk_count', models.IntegerField(db_default=0, default=0)),
                    ('tokens_by_encoding', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
                    ('notes_length', models.IntegerField(db_default=0, default=0)),
                    ('unread_pages', models.IntegerField(db_default=0, default=0)),
                    ('shown_pages', models.IntegerField(db_default=0, default=0)),
                    ('page_of', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.CASCADE, related_name='page_pictures', to='knowledge.file')),
                    ('page', models.IntegerField(blank=True, null=True)),
                    ('is_tool_image', models.BooleanField(db_default=False, default=False, editable=False)),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'permissions': [('view_file_text', 'Can view extracted texts')],
                    'indexes': [
                        models.Index(fields=['owner', '-created_at', '-id'], name='file_by_owner'),
                        models.Index(condition=models.Q(('status', 'processing')), fields=['lease_until'], name='file_processing'),
                        models.Index(condition=models.Q(('announced_at__isnull', True), ('ended_at__isnull', False)), fields=['ended_at'], name='file_unannounced'),
                        models.Index(fields=['-created_at', '-id'], name='file_by_creation'),
                        models.Index(condition=models.Q(('status', 'failed')), fields=['error_code'], name='file_failed'),
                        models.Index(condition=models.Q(('has_stale_chunks', True)), fields=['id'], name='file_stale_chunks'),
                        models.Index(condition=models.Q(('page_of__isnull', False)), fields=['page_of', 'page'], name='file_page_pictures'),
                    ],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('kind__in', ['text', 'image', 'tabular'])), name='file_kind_known'),
                        models.CheckConstraint(condition=models.Q(('status__in', ['processing', 'ready', 'failed'])), name='file_status_known'),
                        models.CheckConstraint(condition=models.Q(('size_bytes__gte', 0), ('token_count__gte', 0)), name='file_sizes_not_negative'),
                        models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), models.Q(('error_code', ''), _negated=True)), models.Q(models.Q(('status', 'failed'), _negated=True), ('error_code', '')), _connector='OR'), name='file_has_an_error_iff_failed'),
                        models.CheckConstraint(condition=models.Q(models.Q(('kind', 'image'), ('status', 'ready'), _negated=True), models.Q(('height_px__gte', 1), ('height_px__isnull', False), ('width_px__gte', 1), ('width_px__isnull', False)), _connector='OR'), name='ready_picture_has_its_size'),
                        models.CheckConstraint(condition=models.Q(('lease_until__isnull', True), models.Q(('attempt__gte', 1), ('status', 'processing')), _connector='OR'), name='leased_file_is_processing'),
                        models.CheckConstraint(condition=models.Q(('ended_at__isnull', True), models.Q(('status', 'processing'), _negated=True), _connector='OR'), name='processing_file_has_no_end'),
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 0), ('failures__gte', 0)), name='file_attempts_not_negative'),
                        models.CheckConstraint(condition=models.Q(('thumbnail', ''), ('kind', 'image'), _connector='OR'), name='only_pictures_have_thumbnails'),
                        models.CheckConstraint(condition=models.Q(('project__isnull', True), ('knowledge_base__isnull', True), _connector='OR'), name='document_is_in_no_project'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='MembershipChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('knowledge_base', models.UUIDField(db_index=True)),
                    ('name', models.CharField(max_length=200)),
                    ('actor', models.CharField(help_text='The user who made the change.', max_length=150)),
                    ('user', models.CharField(help_text='The user whose role was changed.', max_length=150)),
                    ('before', models.CharField(blank=True, choices=[('owner', 'Owner'), ('editor', 'Editor'), ('reader', 'Reader'), ('restricted', 'Restricted')], default='', max_length=10)),
                    ('after', models.CharField(blank=True, choices=[('owner', 'Owner'), ('editor', 'Editor'), ('reader', 'Reader'), ('restricted', 'Restricted')], default='', max_length=10)),
                    ('at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'verbose_name': 'change of a membership',
                    'verbose_name_plural': 'changes of memberships',
                    'ordering': ('-at', '-id'),
                },
            ),
            migrations.CreateModel(
                name='EmbeddingModel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200, unique=True)),
                    ('dimensions', models.IntegerField(blank=True, null=True)),
                    ('attempt', models.IntegerField(db_default=0, default=0)),
                    ('lease_until', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('completed_at', models.DateTimeField(blank=True, null=True)),
                    ('latest_owner', models.BigIntegerField(db_default=0, default=0)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('dimensions__gte', 1)), name='embedding_has_dimensions')],
                },
            ),
            migrations.CreateModel(
                name='ServedVersion',
                fields=[
                    ('document', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='served', serialize=False, to='knowledge.file')),
                    ('name', models.CharField(max_length=255)),
                    ('url', models.TextField(blank=True, default='')),
                    ('content_type', models.CharField(max_length=200)),
                    ('size_bytes', models.BigIntegerField()),
                    ('content', models.FileField(blank=True, max_length=200, upload_to='')),
                ],
            ),
            migrations.CreateModel(
                name='Chunk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.IntegerField()),
                    ('position', models.IntegerField()),
                    ('start', models.IntegerField()),
                    ('text', models.TextField()),
                    ('content_hash', models.BinaryField(max_length=32)),
                    ('language', models.CharField(choices=[('english', 'English'), ('german', 'German'), ('simple', 'Other')], max_length=7)),
                    ('words', models.GeneratedField(db_persist=True, expression=models.Case(models.When(language='english', then=SearchVector('text', config='english')), models.When(language='german', then=SearchVector('text', config='german')), default=SearchVector('text', config='simple')), output_field=SearchVectorField())),
                    ('file', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='chunks', to='knowledge.file')),
                ],
                options={
                    'ordering': ('file', 'position'),
                    'indexes': [
                        models.Index(models.F('content_hash'), name='chunk_content'),
                        GinIndex(condition=models.Q(('language', 'english')), fields=['words'], name='chunk_words_english'),
                        GinIndex(condition=models.Q(('language', 'german')), fields=['words'], name='chunk_words_german'),
                        GinIndex(condition=models.Q(('language', 'simple')), fields=['words'], name='chunk_words_simple'),
                    ],
                    'constraints': [
                        models.UniqueConstraint(fields=('file', 'version', 'position'), name='one_chunk_per_position'),
                        models.CheckConstraint(condition=models.Q(('position__gte', 0), ('start__gte', 0), ('version__gte', 0)), name='chunk_place_not_negative'),
                        models.CheckConstraint(condition=models.Q(('language__in', ['english', 'german', 'simple'])), name='chunk_language_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Document',
                fields=[
                ],
                options={
                    'proxy': True,
                    'default_permissions': (),
                },
                bases=('knowledge.file',),
            ),
            migrations.CreateModel(
                name='KnowledgeBase',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=200)),
                    ('summary', models.TextField(blank=True, default='')),
                    ('topics', ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                    ('routing_hint', models.CharField(blank=True, default='', max_length=200)),
                    ('routing_keywords', ArrayField(base_field=models.CharField(max_length=48), blank=True, default=list, size=None)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('owner', models.ForeignKey(on_delete=knowledge.models.owned_row.cascade_without_another_owner, related_name='knowledge_bases', to=settings.AUTH_USER_MODEL)),
                    ('outline_updated_at', models.DateTimeField(db_default=Now())),
                ],
                options={
                    'verbose_name': 'knowledge base',
                    'permissions': [('view_knowledge_base_contents', 'Can view what knowledge bases hold')],
                    'ordering': ('-updated_at', '-id'),
                    'indexes': [models.Index(fields=['-updated_at', '-id'], name='knowledge_base_by_update')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='knowledge_base_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='KnowledgeBaseMember',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('editor', 'Editor'), ('reader', 'Reader'), ('restricted', 'Restricted')], default='restricted', max_length=10)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('knowledge_base', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='members', to='knowledge.knowledgebase')),
                    ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='knowledge_base_members', to=settings.AUTH_USER_MODEL)),
                    ('is_accepted', models.BooleanField(db_default=True, default=True)),
                    ('is_ownership_accepted', models.BooleanField(db_default=True, default=True)),
                ],
                options={
                    'verbose_name': 'member of a knowledge base',
                    'verbose_name_plural': 'members of knowledge bases',
                    'ordering': ('created_at', 'id'),
                    'constraints': [
                        models.UniqueConstraint(fields=('knowledge_base', 'user'), name='one_membership_per_user'),
                        models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'editor', 'reader', 'restricted'])), name='member_role_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Project',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=200)),
                    ('instructions', models.TextField(blank=True, default='')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('owner', models.ForeignKey(on_delete=models.CASCADE, related_name='projects', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'permissions': [('view_project_instructions', 'Can view the instructions of projects')],
                    'indexes': [models.Index(fields=['-updated_at', '-id'], name='project_by_update')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='project_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='ChunkVector',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('vector', ArrayField(base_field=knowledge.models.chunk_vector.RealField(), blank=True, null=True, size=None)),
                    ('error', models.CharField(blank=True, db_default='', default='', max_length=200)),
                    ('chunk', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='vectors', to='knowledge.chunk')),
                    ('model', models.ForeignKey(db_index=False, on_delete=models.CASCADE, to='knowledge.embeddingmodel')),
                    ('owner', models.BigIntegerField(db_default=0, default=0)),
                ],
                options={
                    'indexes': [
                        models.Index(models.F('model'), models.F('owner'), models.F('id'), condition=models.Q(('error', ''), ('vector__isnull', True)), name='vector_waiting_by_owner'),
                    ],
                    'constraints': [
                        models.UniqueConstraint(fields=('chunk', 'model'), name='one_vector_per_model'),
                        models.CheckConstraint(condition=models.Q(('error', ''), ('vector__isnull', True), _connector='OR'), name='vector_or_error'),
                    ],
                },
            ),
        ),
        migrations.RunSQL(PAGE_OF),
        migrations.RunSQL(CREATE_EXTENSION),
        migrations.RunSQL(STORE_INLINE),
        migrations.RunSQL(NORMAL_WORDS),
        migrations.RunSQL(RECORD_DELETED),
        migrations.RunSQL(END_SERVED),
        migrations.RunSQL(PASS_ON),
    ]
