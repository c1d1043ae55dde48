"""Adds the words of the normal form to chunks, where they differ from the words of the text (decision 0106).

It runs beside traffic: a trigger fills the nullable column of new rows, and batches fill that of existing rows.
"""

from django.db import migrations

from knowledge.migration_operations import FillInBatches, build_index, remove_lock_timeout, restore_lock_timeout

UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HANGUL = r"\uac00-\ud7a3"
EITHER = UNSPACED + HANGUL
# As in knowledge/texts/normal_form.py. No function calls another: a restored dump builds indexes without a search path.
# Pairs of the first 50,000 characters only, so that no text of 100,000 characters exceeds the megabyte of words that
# Postgres accepts.
FUNCTIONS = rf"""
CREATE OR REPLACE FUNCTION knowledge_normal_form(value text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(lower(replace(normalize(value, NFKC), 'İ', 'i')), 'ß', 'ss'), 'ς', 'σ')
$$;
CREATE OR REPLACE FUNCTION knowledge_normal_words(config regconfig, form text) RETURNS tsvector
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
CREATE OR REPLACE FUNCTION knowledge_other_words(config regconfig, value text) RETURNS tsvector
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
CREATE OR REPLACE FUNCTION knowledge_store_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.normal_words := knowledge_other_words(NEW.language::regconfig, NEW.text);
    RETURN NEW;
END $$;
"""
NO_FUNCTIONS = """
DROP FUNCTION knowledge_store_normal_words();
DROP FUNCTION knowledge_other_words(regconfig, text);
DROP FUNCTION knowledge_normal_words(regconfig, text);
DROP FUNCTION knowledge_normal_form(text);
"""
# Texts of chunks do not change.
TRIGGER = """
CREATE OR REPLACE TRIGGER knowledge_chunk_normal_words BEFORE INSERT ON knowledge_chunk FOR EACH ROW
    WHEN (octet_length(NEW.text) <> char_length(NEW.text)) EXECUTE FUNCTION knowledge_store_normal_words()
"""


def index(language):
    on = f"knowledge_chunk USING gin (normal_words) WHERE language = '{language}' AND normal_words IS NOT NULL"
    return build_index(f"chunk_normal_words_{language}", on)


class Migration(migrations.Migration):

    atomic = False
    dependencies = [("knowledge", "0017_tokens_by_encoding")]

    operations = [
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        # Unknown to Django, because no code loads it.
        migrations.RunSQL(
            "ALTER TABLE knowledge_chunk ADD COLUMN IF NOT EXISTS normal_words tsvector",
            "ALTER TABLE knowledge_chunk DROP COLUMN normal_words",
        ),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER knowledge_chunk_normal_words ON knowledge_chunk"),
        FillInBatches(
            "knowledge_chunk", "normal_words", "knowledge_other_words(language::regconfig, text)"
        ),
        remove_lock_timeout(),
        *index("english"),
        *index("german"),
        *index("simple"),
        restore_lock_timeout(),
    ]
