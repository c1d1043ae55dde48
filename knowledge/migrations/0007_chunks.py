"""Replaces passages by chunks. As passages were, chunks are stored by the first search of a project."""


import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import knowledge.texts.text_language
import knowledge.models.chunk_vector
from django.db import migrations, models


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


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0006_staff_pages'),
    ]

    operations = [
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
                ('words', models.GeneratedField(db_persist=True, expression=models.Case(models.When(language=knowledge.texts.text_language.Language['ENGLISH'], then=django.contrib.postgres.search.SearchVector('text', config='english')), models.When(language=knowledge.texts.text_language.Language['GERMAN'], then=django.contrib.postgres.search.SearchVector('text', config='german')), default=django.contrib.postgres.search.SearchVector('text', config='simple')), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('file', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='knowledge.file')),
            ],
            options={
                'ordering': ('file', 'position'),
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
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('dimensions__gte', 1)), name='embedding_has_dimensions')],
            },
        ),
        migrations.CreateModel(
            name='ChunkVector',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('vector', django.contrib.postgres.fields.ArrayField(base_field=knowledge.models.chunk_vector.RealField(), blank=True, null=True, size=None)),
                ('error', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('chunk', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='knowledge.chunk')),
                ('model', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='knowledge.embeddingmodel')),
            ],
        ),
        migrations.DeleteModel(
            name='FilePassage',
        ),
        migrations.AddField(
            model_name='file',
            name='chunks_version',
            field=models.IntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='file',
            name='has_stale_chunks',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(condition=models.Q(('has_stale_chunks', True)), fields=['id'], name='file_stale_chunks'),
        ),
        migrations.AddIndex(
            model_name='chunk',
            index=django.contrib.postgres.indexes.GinIndex(fields=['words'], name='chunk_words'),
        ),
        migrations.AddIndex(
            model_name='chunk',
            index=models.Index(models.F('content_hash'), name='chunk_content'),
        ),
        migrations.AddConstraint(
            model_name='chunk',
            constraint=models.UniqueConstraint(fields=('file', 'version', 'position'), name='one_chunk_per_position'),
        ),
        migrations.AddConstraint(
            model_name='chunk',
            constraint=models.CheckConstraint(condition=models.Q(('position__gte', 0), ('start__gte', 0), ('version__gte', 0)), name='chunk_place_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='chunk',
            constraint=models.CheckConstraint(condition=models.Q(('language__in', [knowledge.texts.text_language.Language['ENGLISH'], knowledge.texts.text_language.Language['GERMAN'], knowledge.texts.text_language.Language['OTHER']])), name='chunk_language_known'),
        ),
        migrations.AddIndex(
            model_name='chunkvector',
            index=models.Index(models.F('model'), models.F('id'), condition=models.Q(('error', ''), ('vector__isnull', True)), name='vector_waiting'),
        ),
        migrations.AddConstraint(
            model_name='chunkvector',
            constraint=models.UniqueConstraint(fields=('chunk', 'model'), name='one_vector_per_model'),
        ),
        migrations.AddConstraint(
            model_name='chunkvector',
            constraint=models.CheckConstraint(condition=models.Q(('error', ''), ('vector__isnull', True), _connector='OR'), name='vector_or_error'),
        ),
        migrations.RunSQL(CREATE_EXTENSION, migrations.RunSQL.noop),
        migrations.RunSQL(STORE_INLINE, migrations.RunSQL.noop),
    ]
