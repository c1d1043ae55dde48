"""The tables of version 0.2.0, the oldest one that can be upgraded."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models.functions import Now

import chat.models.mcp_sign_in
import chat.models.model_config
import chat.models.run_options
from knowledge.migration_operations import CreateTables

# Foreign keys over two columns, which Django cannot declare: the tree stays inside its session, a parent's role is true,
# and latest_child is a reply to the message that names it.
# Deferred to the end of the transaction: a session is deleted, or a message and its parent written, in any order.
KEYS = {
    "message_parent_in_same_session": (
        "FOREIGN KEY (session_id, parent_id) REFERENCES chat_chatmessage (session_id, id)"
    ),
    "message_parent_role_is_true": (
        "FOREIGN KEY (parent_id, parent_role) REFERENCES chat_chatmessage (id, role)"
    ),
    "message_latest_child_is_a_reply_to_it": (
        "FOREIGN KEY (latest_child_id, id) REFERENCES chat_chatmessage (id, reply_to)"
    ),
    "message_cutoff_in_same_session": (
        "FOREIGN KEY (session_id, last_summarized_message_id) REFERENCES chat_chatmessage (session_id, id)"
    ),
}
SHARE_KEY = """
ALTER TABLE chat_share ADD CONSTRAINT share_leaf_in_same_session FOREIGN KEY (session_id, leaf_id)
    REFERENCES chat_chatmessage (session_id, id) DEFERRABLE INITIALLY DEFERRED
"""
# Django's own would refuse what deletes sessions without knowing this table: SQL.
LOGIN_KEY = """
ALTER TABLE chat_login ADD CONSTRAINT login_has_a_session FOREIGN KEY (session_id)
    REFERENCES django_session (session_key) ON DELETE CASCADE
"""
# A column that Django does not know: nobody loads it. Generated, so that every way of writing a message keeps it; null
# while an answer is being written (its tokens are counted at its end), so that a checkpoint costs no index anything.
# 100,000 characters: the rest of a longer text is not found, and Postgres takes no words over 1 MB.
# New words wait in a list until somebody's write sorts them in: 4 MB of them would hold up the end of an answer.
SEARCH = """
ALTER TABLE chat_chatmessage ADD COLUMN words tsvector GENERATED ALWAYS AS (
    CASE WHEN role = 'user' OR (role = 'assistant' AND token_count > 0)
    THEN to_tsvector('simple', left(text, 100000)) END
) STORED;
CREATE INDEX message_by_words ON chat_chatmessage USING gin (words) WITH (gin_pending_list_limit = 512);
"""
# Messages and titles are found by the words of their normal form too, where these are others than those of the text
# (decision 0106). Triggers fill the column, which Django does not know, for those that have `words`.
SEARCHED = "({row}role = 'user' OR {row}role = 'assistant' AND {row}token_count > 0)"
WORDS = "knowledge_other_words('simple', left({row}text, 100000))"
NEEDED = f"{SEARCHED.format(row='NEW.')} AND octet_length(NEW.text) <> char_length(NEW.text)"
# An answer gets its words after its end: with a trigger before updates, Postgres would compute the generated columns of every
# message that is updated, whatever is changed in it.
NORMAL_WORDS = f"""
ALTER TABLE chat_chatmessage ADD COLUMN normal_words tsvector;
CREATE FUNCTION chat_store_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.normal_words := {WORDS.format(row="NEW.")};
    RETURN NEW;
END $$;
CREATE FUNCTION chat_change_normal_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed tsvector := CASE WHEN {SEARCHED.format(row="NEW.")} THEN {WORDS.format(row="NEW.")} END;
BEGIN
    UPDATE chat_chatmessage SET normal_words = changed WHERE id = NEW.id AND normal_words IS DISTINCT FROM changed;
    RETURN NULL;
END $$;
CREATE TRIGGER chat_message_new_words BEFORE INSERT ON chat_chatmessage FOR EACH ROW
    WHEN ({NEEDED}) EXECUTE FUNCTION chat_store_normal_words();
CREATE TRIGGER chat_message_changed_words AFTER UPDATE OF text, token_count ON chat_chatmessage FOR EACH ROW
    WHEN (OLD.normal_words IS NOT NULL OR {NEEDED}) EXECUTE FUNCTION chat_change_normal_words();
CREATE INDEX message_by_normal_words ON chat_chatmessage USING gin (normal_words)
    WITH (gin_pending_list_limit = 512) WHERE normal_words IS NOT NULL;
CREATE INDEX session_by_title_normal_words ON chat_session
    USING gin (knowledge_normal_words('simple', knowledge_normal_form(title)));
"""
# Images that tools returned: whatever deletes the last call that has an image (a session, an account, SQL) deletes its file.
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


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("chat", name)
        for name in (
            "0001_initial", "0002_tree_keys", "0003_agents_and_what_answers_rest_on", "0004_reports",
            "0005_sent_requests", "0006_files_and_projects", "0007_stored_projects", "0008_compressions",
            "0009_summaries_by_session", "0010_durations", "0011_session_lists", "0012_what_staff_look_through",
            "0013_imported_runs", "0014_shares", "0015_search", "0016_search_in_small_steps", "0017_makeshift_titles",
            "0018_provisional_titles", "0019_optional_output_limit", "0020_upstream_errors", "0021_alternating_roles",
            "0022_additional_context", "0023_history_cut", "0024_finish_reasons", "0025_session_models",
            "0026_run_setups", "0027_token_factor", "0028_side_requests", "0029_request_ids", "0030_continued_runs",
            "0031_retries_in_columns", "0032_login_limits", "0033_token_scopes", "0034_share_title", "0035_run_spending",
            "0036_daily_limits", "0037_stored_bytes", "0039_share_pages", "0040_session_tools", "0041_knowledge_bases",
            "0041_sweeper_lease", "0042_safe_summaries", "0043_query_expansion", "0044_session_event_by_age",
            "0045_pinned_and_archived", "0046_trash", "0047_trash_indexes", "0049_invitations", "0050_account_deletions",
            "0053_run_options", "0055_logins", "0058_saved_prompts", "0059_providers",
            "0061_temporary_sessions_and_tags", "0062_temporary_session_index", "0063_context_usage",
            "0064_edited_answers", "0066_shared_agents", "0067_login_language", "0069_approvals", "0070_model_dialects",
            "0071_call_ids_and_redirects", "0072_bases_of_earlier_questions", "0073_estimated_usage",
            "0074_max_requests", "0075_normal_words", "0076_mcp_servers", "0077_agents_people_see", "0078_suggestions",
            "0079_questions", "0080_validate_questions", "0081_preferences", "0082_default_models",
            "0084_structured_results", "0085_approvals_of_calls", "0086_mcp_sign_ins", "0088_options_of_agents",
            "0089_agents_shared_with_users", "0090_tool_call_images", "0091_waiting_for_sign_ins",
            "0092_validate_sign_ins", "0093_mcp_catalogs", "0094_wanted_scopes", "0095_mcp_revocations",
            "0096_openapi_documents", "0097_no_prepared_summaries", "0098_mcp_server_query",
            "0099_mcp_registered_clients",
        )
    ]
    dependencies = [
        ("knowledge", "0001_version_0_2_0"),
        ("knox", "0009_extend_authtoken_field"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateTables(
            migrations.CreateModel(
                name='AccountDeletion',
                fields=[
                    ('user', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='deletion', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('requested_at', models.DateTimeField(auto_now_add=True)),
                ],
            ),
            migrations.CreateModel(
                name='Leadership',
                fields=[
                    ('role', models.CharField(max_length=32, primary_key=True, serialize=False)),
                    ('owner', models.BigIntegerField()),
                    ('lease_until', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='LoginLimit',
                fields=[
                    ('key', models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                    ('free_at', models.DateTimeField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='Preferences',
                fields=[
                    ('user', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='preferences', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('instructions', models.TextField(blank=True, db_default='', default='')),
                    ('uses_instructions', models.BooleanField(db_default=True, default=True)),
                    ('models', ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None)),
                ],
                options={
                    'verbose_name_plural': 'preferences',
                },
            ),
            migrations.CreateModel(
                name='StoredBytes',
                fields=[
                    ('user', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='stored_bytes', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('total', models.BigIntegerField(db_default=0, default=0)),
                ],
            ),
            migrations.CreateModel(
                name='Suggestion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=200)),
                    ('position', models.PositiveSmallIntegerField(default=0, help_text='The lowest stands first; six are shown.')),
                ],
                options={
                    'ordering': ('position', 'id'),
                },
            ),
            migrations.CreateModel(
                name='Agent',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=200)),
                    ('prompt', models.TextField(blank=True, default='')),
                    ('replaces_system_prompt', models.BooleanField(default=False, help_text='The prompt is the whole system prompt; an empty one means there is none.')),
                    ('reminder', models.TextField(blank=True, default='', help_text='Stands last in every request.')),
                    ('tools', models.JSONField(blank=True, default=list, help_text='Names of the tools it may use.')),
                    ('context_layout', models.CharField(choices=[('moving', 'Moving'), ('append_only', 'Append Only')], default='moving', max_length=11)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('models', models.JSONField(blank=True, default=list, help_text='Names of the models that answer; empty: the default model.')),
                    ('owner', models.ForeignKey(on_delete=models.CASCADE, related_name='agents', to=settings.AUTH_USER_MODEL)),
                    ('knowledge_bases', ArrayField(base_field=models.UUIDField(), blank=True, db_default=[], default=list, help_text='Ids of those that its chats search, in their order.', size=None)),
                    ('shared_with', models.ManyToManyField(blank=True, help_text='Groups whose members may use it.', related_name='agents', to='auth.group')),
                    ('description', models.CharField(blank=True, db_default='', default='', max_length=300)),
                    ('emoji', models.CharField(blank=True, db_default='', default='', max_length=16)),
                    ('questions', ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, help_text='What the page of a new chat with it suggests to ask.', size=None)),
                    ('options', models.JSONField(blank=True, db_default=models.Value({}, output_field=models.JSONField()), default=dict)),
                    ('shared_with_users', models.ManyToManyField(blank=True, help_text='People who may use it, beside those groups.', related_name='agents_of_others', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'indexes': [models.Index(fields=['owner', '-updated_at', '-id'], name='agent_by_owner')],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('context_layout__in', ['moving', 'append_only'])), name='agent_context_layout_known'),
                        models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='agent_has_a_name'),
                        models.CheckConstraint(condition=chat.models.run_options.AreOptions(models.F('options')), name='agent_options_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='ChatMessage',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('parent_role', models.CharField(blank=True, choices=[('root', 'Root'), ('user', 'User'), ('assistant', 'Assistant'), ('summary', 'Summary')], max_length=9, null=True)),
                    ('role', models.CharField(choices=[('root', 'Root'), ('user', 'User'), ('assistant', 'Assistant'), ('summary', 'Summary')], max_length=9)),
                    ('text', models.TextField(blank=True, default='')),
                    ('reasoning', models.TextField(blank=True, default='')),
                    ('token_count', models.IntegerField(default=0)),
                    ('reply_to', models.GeneratedField(db_persist=True, expression=models.Case(models.When(role__in=('user', 'assistant'), then=models.F('parent_id')), default=None, output_field=models.UUIDField()), output_field=models.UUIDField(null=True))),
                    ('client_message_id', models.CharField(blank=True, max_length=100, null=True)),
                    ('request_digest', models.CharField(blank=True, default='', max_length=64)),
                    ('sent_at', models.DateTimeField(auto_now_add=True)),
                    ('last_summarized_message', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='+', to='chat.chatmessage')),
                    ('latest_child', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='+', to='chat.chatmessage')),
                    ('parent', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='children', to='chat.chatmessage')),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='messages', to='chat.session')),
                ],
                options={
                    'ordering': ('sent_at', 'id'),
                    'indexes': [
                        models.Index(fields=['parent', 'sent_at', 'id'], name='message_by_parent'),
                        models.Index(condition=models.Q(('role', 'summary')), fields=['session'], name='summary_by_session'),
                        models.Index(fields=['sent_at'], name='message_by_age'),
                    ],
                    'constraints': [
                        models.UniqueConstraint(condition=models.Q(('role', 'root')), fields=('session',), name='one_root_per_session'),
                        models.UniqueConstraint(fields=('session', 'client_message_id'), name='one_message_per_client_id'),
                        models.UniqueConstraint(fields=('session', 'id'), name='message_session_id'),
                        models.UniqueConstraint(fields=('id', 'role'), name='message_id_role'),
                        models.UniqueConstraint(fields=('id', 'reply_to'), name='message_id_reply_to'),
                        models.UniqueConstraint(fields=('parent', 'last_summarized_message'), name='one_summary_per_parent_and_cutoff'),
                        models.CheckConstraint(condition=models.Q(('role__in', ['root', 'user', 'assistant', 'summary'])), name='message_role_known'),
                        models.CheckConstraint(condition=models.Q(models.Q(('parent__isnull', True), ('parent_role__isnull', True), ('role', 'root')), models.Q(('parent_role__in', ['root', 'assistant']), ('parent_role__isnull', False), ('role', 'user')), models.Q(('parent_role', 'user'), ('parent_role__isnull', False), ('role', 'assistant')), models.Q(('parent_role', 'user'), ('parent_role__isnull', False), ('role', 'summary')), _connector='OR'), name='message_roles_alternate'),
                        models.CheckConstraint(condition=models.Q(models.Q(('parent__isnull', True), ('parent_role__isnull', True)), models.Q(('parent__isnull', False), ('parent_role__isnull', False)), _connector='OR'), name='message_parent_has_role'),
                        models.CheckConstraint(condition=models.Q(('parent__isnull', True), models.Q(('parent', models.F('id')), _negated=True), _connector='OR'), name='message_is_not_its_own_parent'),
                        models.CheckConstraint(condition=models.Q(models.Q(('role', 'root'), _negated=True), models.Q(('reasoning', ''), ('text', '')), _connector='OR'), name='root_is_empty'),
                        models.CheckConstraint(condition=models.Q(('last_summarized_message__isnull', True), ('role', 'summary'), _connector='OR'), name='only_summaries_have_a_cutoff'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='CitedDocument',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.IntegerField()),
                    ('document_id', models.CharField(max_length=500)),
                    ('title', models.TextField(blank=True, default='')),
                    ('url', models.TextField(blank=True, default='')),
                    ('message', models.ForeignKey(on_delete=models.CASCADE, related_name='citations', to='chat.chatmessage')),
                ],
                options={
                    'ordering': ('number',),
                    'constraints': [
                        models.UniqueConstraint(fields=('message', 'number'), name='one_citation_per_number'),
                        models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='citation_number_positive'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='DailyUse',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('runs', models.IntegerField(default=0)),
                    ('tokens', models.BigIntegerField(default=0)),
                    ('cost', models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                    ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('is_estimated', models.BooleanField(db_default=False, default=False, help_text='Tokens that no server reported are counted too.')),
                ],
                options={
                    'verbose_name': 'use of a day',
                    'verbose_name_plural': 'use by day',
                    'ordering': ('-day', 'user'),
                    'constraints': [
                        models.UniqueConstraint(fields=('user', 'day'), name='one_daily_use_per_user_and_day'),
                        models.CheckConstraint(condition=models.Q(('cost__gte', 0), ('runs__gte', 0), ('tokens__gte', 0)), name='daily_use_not_negative'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='EditedAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('model', models.CharField(blank=True, default='', max_length=200)),
                    ('message', models.OneToOneField(on_delete=models.CASCADE, related_name='edited', to='chat.chatmessage')),
                    ('original', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='+', to='chat.chatmessage')),
                ],
            ),
            migrations.CreateModel(
                name='Feedback',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('is_positive', models.BooleanField(blank=True, null=True)),
                    ('text', models.TextField(blank=True, default='')),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('message', models.OneToOneField(on_delete=models.CASCADE, related_name='feedback', to='chat.chatmessage')),
                ],
                options={
                    'verbose_name_plural': 'feedback',
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('is_positive__isnull', False), models.Q(('text', ''), _negated=True), _connector='OR'), name='feedback_says_something'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='GroupLimits',
                fields=[
                    ('group', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='limits', serialize=False, to='auth.group')),
                    ('runs_per_day', models.BigIntegerField(blank=True, help_text='Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts.', null=True)),
                    ('tokens_per_day', models.BigIntegerField(blank=True, help_text='Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts.', null=True)),
                    ('cost_per_day', models.DecimalField(blank=True, decimal_places=6, help_text='Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts.', max_digits=18, null=True)),
                ],
                options={
                    'verbose_name': 'limits of a group',
                    'verbose_name_plural': 'limits of groups',
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(models.Q(('runs_per_day__isnull', True), ('runs_per_day__gte', 0), _connector='OR'), models.Q(('tokens_per_day__isnull', True), ('tokens_per_day__gte', 0), _connector='OR'), models.Q(('cost_per_day__isnull', True), ('cost_per_day__gte', 0), _connector='OR')), name='group_limits_not_negative'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('email', models.EmailField(blank=True, help_text='The link is sent there, and not shown. Empty: you give it to whom you invite.', max_length=254)),
                    ('max_uses', models.PositiveIntegerField(default=1, help_text='How many accounts may be made with it.')),
                    ('uses', models.PositiveIntegerField(default=0, editable=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('group', models.ForeignKey(blank=True, help_text='Those who register become members of it.', null=True, on_delete=models.SET_NULL, to='auth.group')),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('uses__lte', models.F('max_uses'))), name='invitation_uses_within_max'),
                        models.CheckConstraint(condition=models.Q(('email', ''), ('max_uses', 1), _connector='OR'), name='invitation_by_e_mail_is_for_one'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Login',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user_agent', models.CharField(blank=True, max_length=300)),
                    ('created_at', models.DateTimeField()),
                    ('used_at', models.DateTimeField()),
                    ('session', models.OneToOneField(db_constraint=False, on_delete=models.DO_NOTHING, related_name='login', to='sessions.session')),
                    ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='logins', to=settings.AUTH_USER_MODEL)),
                    ('language', models.CharField(blank=True, db_default='', default='', max_length=16)),
                ],
            ),
            migrations.CreateModel(
                name='McpRevocation',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('encrypted_secret', models.TextField(editable=False)),
                    ('expires_at', models.DateTimeField(db_index=True)),
                ],
                options={
                    'verbose_name': 'MCP revocation',
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('encrypted_secret', ''), _negated=True), name='mcp_revocation_has_a_secret'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='McpServer',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(help_text='The names of its tools begin with it: letters, digits, - and _.', max_length=30, unique=True)),
                    ('transport', models.CharField(choices=[('stdio', 'stdio'), ('http', 'http'), ('openapi', 'openapi')], max_length=7)),
                    ('command', models.JSONField(blank=True, default=list, help_text='Of stdio: ["program", "argument"]. MCP_COMMANDS names the programs.')),
                    ('url', models.CharField(blank=True, default='', help_text='Of http; of openapi that of its document.', max_length=2000)),
                    ('env', models.JSONField(blank=True, default=dict, help_text='{"NAME": "VARIABLE"}: the server gets NAME with the value that VARIABLE has for the workers.')),
                    ('headers', models.JSONField(blank=True, default=dict, help_text='{"Header": "VARIABLE"}: requests have the value that VARIABLE has for the workers.')),
                    ('approval', models.CharField(choices=[('never', 'never'), ('ask', 'ask'), ('ask_unless_read_only', 'ask unless read only')], default='ask_unless_read_only', help_text='Whether users are asked before a tool is called; a rule of the tool itself comes first.', max_length=20)),
                    ('enabled_tools', models.JSONField(blank=True, default=list, help_text='Its own names of the tools that are offered; empty: all.')),
                    ('is_enabled', models.BooleanField(default=True)),
                    ('is_demo', models.BooleanField(default=False, editable=False, help_text='Of a trial: it comes with Turnwire, and MCP_COMMANDS need not name it.')),
                    ('status', models.CharField(choices=[('ready', 'Ready'), ('down', 'Down'), ('needs_sign_in', 'Needs sign in')], default='down', editable=False, max_length=13)),
                    ('problem', models.CharField(blank=True, default='', editable=False, max_length=500)),
                    ('tools', models.JSONField(default=list, editable=False)),
                    ('listed_at', models.DateTimeField(editable=False, null=True)),
                    ('expires_at', models.DateTimeField(editable=False, null=True)),
                    ('requested_at', models.DateTimeField(editable=False, null=True)),
                    ('revision', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('sign_in', models.CharField(choices=[('user', 'each user'), ('shared', 'all users')], db_default='user', default='user', help_text='Of http: who signs in to a server that demands it, each user, or staff for all users.', max_length=6)),
                    ('base_url', models.CharField(blank=True, db_default='', default='', help_text='Of openapi: where the operations are, if not where the document says; headers and query are sent there alone.', max_length=2000)),
                    ('document', models.TextField(blank=True, db_default='', default='', help_text='Of openapi, instead of a url: the document itself, JSON or YAML.')),
                    ('query', models.JSONField(blank=True, db_default={}, default=dict, help_text='Of openapi, {"key": "VARIABLE"}: requests have ?key= with the value that VARIABLE has for the workers.')),
                    ('oauth_client_id', models.CharField(blank=True, db_default='', default='', help_text='The id of that client.', max_length=500)),
                    ('oauth_client_secret', models.CharField(blank=True, db_default='', default='', help_text='The variable of the workers that has the secret of that client; empty: it has none.', max_length=200)),
                    ('oauth_issuer', models.CharField(blank=True, db_default='', default='', help_text='Of http: the issuer with which staff have registered a client, if it accepts no others.', max_length=2000)),
                ],
                options={
                    'verbose_name': 'MCP server',
                    'ordering': ('name',),
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('status__in', ['ready', 'down', 'needs_sign_in'])), name='mcp_server_status_known'),
                        models.CheckConstraint(condition=models.Q(('approval__in', ['never', 'ask', 'ask_unless_read_only'])), name='mcp_server_approval_known'),
                        models.CheckConstraint(condition=models.Q(('sign_in__in', ['user', 'shared'])), name='mcp_server_sign_in_known'),
                        models.CheckConstraint(condition=models.Q(('transport__in', ['stdio', 'http', 'openapi'])), name='mcp_server_transport_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='McpRequest',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('kind', models.CharField(choices=[('resource', 'Resource'), ('prompt', 'Prompt')], max_length=8)),
                    ('target', models.CharField(max_length=2000)),
                    ('arguments', models.JSONField(default=dict)),
                    ('status', models.CharField(choices=[('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=7)),
                    ('text', models.TextField(blank=True, default='')),
                    ('error_code', models.CharField(blank=True, default='', max_length=40)),
                    ('problem', models.CharField(blank=True, default='', max_length=1200)),
                    ('expires_at', models.DateTimeField(db_index=True)),
                    ('file', models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name='+', to='knowledge.file')),
                    ('server', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to='chat.mcpserver')),
                    ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'MCP request',
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('kind__in', ['resource', 'prompt'])), name='mcp_request_kind_known'),
                        models.CheckConstraint(condition=models.Q(('status__in', ['waiting', 'done', 'failed'])), name='mcp_request_status_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='McpCredential',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('url', models.CharField(max_length=2000)),
                    ('issuer', models.CharField(max_length=2000)),
                    ('encrypted_secret', models.TextField(editable=False)),
                    ('expires_at', models.DateTimeField(null=True)),
                    ('revision', models.UUIDField(default=uuid.uuid4)),
                    ('refreshing_until', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('server', models.ForeignKey(on_delete=models.CASCADE, related_name='credentials', to='chat.mcpserver')),
                    ('user', models.ForeignKey(null=True, on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('wanted_scope', models.CharField(blank=True, db_default='', default='', max_length=1000)),
                ],
                options={
                    'verbose_name': 'MCP credential',
                    'constraints': [
                        models.UniqueConstraint(fields=('server', 'user'), name='one_mcp_credential_of_a_user', nulls_distinct=False),
                        models.CheckConstraint(condition=models.Q(('encrypted_secret', ''), _negated=True), name='mcp_credential_has_a_secret'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='McpCatalog',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('revision', models.UUIDField()),
                    ('resources', models.JSONField(default=list)),
                    ('prompts', models.JSONField(default=list)),
                    ('expires_at', models.DateTimeField()),
                    ('credential', models.ForeignKey(null=True, on_delete=models.CASCADE, related_name='+', to='chat.mcpcredential')),
                    ('server', models.ForeignKey(on_delete=models.CASCADE, related_name='catalogs', to='chat.mcpserver')),
                ],
                options={
                    'verbose_name': 'MCP catalog',
                    'constraints': [
                        models.UniqueConstraint(fields=('server', 'credential'), name='one_mcp_catalog_of_a_credential', nulls_distinct=False),
                    ],
                },
            ),
            migrations.CreateModel(
                name='McpSignIn',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('is_shared', models.BooleanField(default=False)),
                    ('url', models.CharField(max_length=2000)),
                    ('redirect_uri', models.CharField(max_length=2000)),
                    ('state', models.CharField(default=chat.models.mcp_sign_in.new_state, max_length=43, unique=True)),
                    ('status', models.CharField(choices=[('preparing', 'Preparing'), ('ready', 'Ready'), ('exchanging', 'Exchanging'), ('done', 'Done'), ('failed', 'Failed')], default='preparing', max_length=10)),
                    ('browser', models.CharField(blank=True, default='', max_length=64)),
                    ('address', models.CharField(blank=True, default='', max_length=4000)),
                    ('problem', models.CharField(blank=True, default='', max_length=500)),
                    ('encrypted_flow', models.TextField(blank=True, default='', editable=False)),
                    ('encrypted_answer', models.TextField(blank=True, default='', editable=False)),
                    ('expires_at', models.DateTimeField(db_index=True)),
                    ('server', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to='chat.mcpserver')),
                    ('user', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'MCP sign-in',
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('status__in', ['preparing', 'ready', 'exchanging', 'done', 'failed'])), name='mcp_sign_in_status_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='MessageFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.SmallIntegerField()),
                    ('number', models.IntegerField(blank=True, null=True)),
                    ('file', models.ForeignKey(on_delete=models.CASCADE, related_name='messages', to='knowledge.file')),
                    ('message', models.ForeignKey(on_delete=models.CASCADE, related_name='attachments', to='chat.chatmessage')),
                ],
                options={
                    'ordering': ('message', 'position'),
                    'constraints': [
                        models.UniqueConstraint(fields=('message', 'position'), name='one_file_per_position'),
                        models.UniqueConstraint(fields=('message', 'file'), name='one_place_per_file_of_a_message'),
                        models.UniqueConstraint(fields=('message', 'number'), name='one_file_per_number'),
                        models.CheckConstraint(condition=models.Q(('number__isnull', True), ('number__gte', 1), _connector='OR'), name='file_number_positive'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='PromptBlock',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('CA', 'agent prompt'), ('P', 'project documents'), ('D', 'dynamic context')], max_length=2)),
                    ('text', models.TextField(blank=True)),
                    ('token_count', models.IntegerField(default=0)),
                    ('message', models.ForeignKey(on_delete=models.CASCADE, related_name='prompt_blocks', to='chat.chatmessage')),
                    ('documents', models.JSONField(blank=True, default=list)),
                ],
                options={
                    'constraints': [
                        models.UniqueConstraint(fields=('message', 'kind'), name='one_prompt_block_per_kind'),
                        models.CheckConstraint(condition=models.Q(('kind__in', ['CA', 'P', 'D'])), name='prompt_block_kind_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='PromptVersion',
                fields=[
                    ('digest', models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                    ('content', models.JSONField()),
                    ('created_at', models.DateTimeField(db_default=Now())),
                    ('unused_since', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('-created_at', 'digest'),
                    'indexes': [models.Index(fields=['created_at'], name='prompt_version_by_age')],
                },
            ),
            migrations.CreateModel(
                name='Provider',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=100)),
                    ('base_url', models.CharField(help_text='OpenAI-compatible address, which usually ends in /v1.', max_length=500)),
                    ('encrypted_api_key', models.TextField(blank=True, default='', editable=False)),
                    ('is_enabled', models.BooleanField(default=True)),
                    ('latest_check', models.JSONField(editable=False, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('deleted_at', models.DateTimeField(editable=False, null=True)),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('name',),
                    'constraints': [
                        models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('name',), name='one_provider_of_a_name'),
                        models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='provider_has_a_name'),
                        models.CheckConstraint(condition=models.Q(('deleted_at', None), models.Q(('encrypted_api_key', ''), ('is_enabled', False)), _connector='OR'), name='deleted_provider_has_no_key'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='ModelConfig',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='As people see it, and as the server calls it, unless another name for it is given.', max_length=200, unique=True)),
                    ('base_url', models.CharField(blank=True, default='', help_text='OpenAI-compatible address ending in /v1; empty: LLM_BASE_URL.', max_length=500, validators=[RegexValidator('^https?://', 'An address starts with http:// or https://.')])),
                    ('api_key_env', models.CharField(default='LLM_API_KEY', help_text='Name of the environment variable that holds the key.', max_length=100)),
                    ('context_window', models.PositiveIntegerField(default=128000, help_text='Tokens.')),
                    ('max_output_tokens', models.PositiveIntegerField(blank=True, help_text='The longest answer, sent as max_tokens; empty: not sent, the limit of the server holds.', null=True)),
                    ('supports_vision', models.BooleanField(default=False)),
                    ('supports_tools', models.BooleanField(default=True)),
                    ('supports_prefill', models.BooleanField(default=False)),
                    ('supports_tool_choice_none', models.BooleanField(default=True)),
                    ('supports_prompt_cache_key', models.BooleanField(default=False)),
                    ('queue', models.CharField(default='llm', help_text='The Celery queue of its worker pool.', max_length=50)),
                    ('tokenizer', models.CharField(blank=True, default='', help_text='Encoding that counts exactly, cl100k_base or o200k_base; empty: estimated, by the token factor.', max_length=50, validators=[chat.models.model_config.check_tokenizer])),
                    ('is_default', models.BooleanField(default=False)),
                    ('is_demo', models.BooleanField(default=False, help_text='The built-in demo, shown when no model is configured.')),
                    ('enabled', models.BooleanField(default=True)),
                    ('cached_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million prompt tokens the server had cached; empty: as any other prompt token.', max_digits=12, null=True)),
                    ('completion_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million completion tokens, reasoning included.', max_digits=12, null=True)),
                    ('prompt_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million prompt tokens; empty: unknown, and so is what a run costs.', max_digits=12, null=True)),
                    ('requires_alternating_roles', models.BooleanField(db_default=False, default=False, help_text='Joins consecutive user messages, for servers that answer "roles must alternate".')),
                    ('token_factor', models.FloatField(db_default=1.0, default=1.0, help_text='Tokens that the server reports for one of our estimate, measured while no tokenizer is set.')),
                    ('token_samples', models.PositiveIntegerField(db_default=0, default=0, help_text='Requests that the token factor was measured on.')),
                    ('unsupported_options', ArrayField(base_field=models.CharField(choices=[('temperature', 'temperature'), ('top_p', 'top_p'), ('max_output_tokens', 'max_output_tokens'), ('stop', 'stop'), ('seed', 'seed'), ('reasoning_effort', 'reasoning_effort'), ('response_format', 'response_format'), ('parallel_tool_calls', 'parallel_tool_calls')], max_length=40), blank=True, db_default=[], default=list, help_text='Options of a turn that its server refuses: they are not offered, and refused with their name.', size=None)),
                    ('upstream_name', models.CharField(blank=True, db_default='', default='', help_text='As the server calls it; empty: by its name.', max_length=200)),
                    ('provider', models.ForeignKey(blank=True, help_text='The provider that serves it, with its address and key; empty: the address and the variable of this row.', null=True, on_delete=models.PROTECT, related_name='models', to='chat.provider')),
                    ('dialect', ArrayField(base_field=models.CharField(choices=[('max_completion_tokens', 'max_completion_tokens'), ('no_stream_options', 'no_stream_options'), ('no_temperature', 'no_temperature'), ('no_parallel_tool_calls', 'no_parallel_tool_calls'), ('no_tool_choice', 'no_tool_choice'), ('no_system_role', 'no_system_role'), ('untagged_thinking', 'untagged_thinking'), ('short_call_ids', 'short_call_ids'), ('server_call_ids', 'server_call_ids')], max_length=40), blank=True, db_default=[], default=list, help_text='What its server refuses or omits. Learned from its refusals; forgotten when its address or name changes.', size=None)),
                    ('dialect_source', models.CharField(blank=True, db_default='', default='', editable=False, max_length=64)),
                    ('redirect_source', models.CharField(blank=True, db_default='', default='', editable=False, max_length=64)),
                    ('redirects_to', models.CharField(blank=True, db_default='', default='', editable=False, max_length=500)),
                    ('max_requests', models.PositiveSmallIntegerField(blank=True, help_text='How many requests its server takes at once, those of other models included; empty: any number.', null=True, validators=[MinValueValidator(1)])),
                ],
                options={
                    'ordering': ('name',),
                    'constraints': [
                        models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('is_default',), name='one_default_model'),
                        models.CheckConstraint(condition=models.Q(('context_window__gt', models.F('max_output_tokens')), ('max_output_tokens__gt', 0)), name='model_output_fits_its_window'),
                        models.CheckConstraint(condition=models.Q(models.Q(('prompt_price__isnull', True), ('prompt_price__gte', 0), _connector='OR'), models.Q(('cached_price__isnull', True), ('cached_price__gte', 0), _connector='OR'), models.Q(('completion_price__isnull', True), ('completion_price__gte', 0), _connector='OR')), name='model_prices_not_negative'),
                        models.CheckConstraint(condition=models.Q(('token_factor__range', (0.7, 3.0))), name='model_token_factor_is_bounded'),
                        models.CheckConstraint(condition=models.Q(('unsupported_options__contained_by', ['temperature', 'top_p', 'max_output_tokens', 'stop', 'seed', 'reasoning_effort', 'response_format', 'parallel_tool_calls'])), name='model_unsupported_options_known'),
                        models.CheckConstraint(condition=models.Q(('provider', None), models.Q(('base_url', ''), ('is_demo', False)), _connector='OR'), name='model_has_one_server'),
                        models.CheckConstraint(condition=models.Q(('dialect__contained_by', ['max_completion_tokens', 'no_stream_options', 'no_temperature', 'no_parallel_tool_calls', 'no_tool_choice', 'no_system_role', 'untagged_thinking', 'short_call_ids', 'server_call_ids'])), name='model_dialect_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Run',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('model', models.CharField(help_text="The model's name, kept when its configuration is deleted.", max_length=200)),
                    ('model_index', models.SmallIntegerField()),
                    ('forced_tool', models.CharField(blank=True, default='', max_length=64)),
                    ('dynamic_context', models.TextField(blank=True, default='')),
                    ('status', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('stopping', 'stopping'), ('waiting', 'waiting'), ('completed', 'completed'), ('failed', 'failed'), ('stopped', 'stopped')], default='queued', max_length=9)),
                    ('attempt', models.IntegerField(default=0)),
                    ('failures', models.IntegerField(default=0)),
                    ('owner', models.BigIntegerField(blank=True, null=True)),
                    ('beat_at', models.DateTimeField(blank=True, null=True)),
                    ('lease_until', models.DateTimeField(blank=True, null=True)),
                    ('deadline', models.DateTimeField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('queued_at', models.DateTimeField(db_default=Now())),
                    ('claimed_at', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('last_seq', models.IntegerField(blank=True, null=True)),
                    ('announced_at', models.DateTimeField(blank=True, null=True)),
                    ('saved_seq', models.IntegerField(default=0)),
                    ('error_code', models.CharField(blank=True, default='', max_length=40)),
                    ('error_message', models.TextField(blank=True, default='')),
                    ('error_retryable', models.BooleanField(default=False)),
                    ('prompt_tokens', models.IntegerField(blank=True, null=True)),
                    ('completion_tokens', models.IntegerField(blank=True, null=True)),
                    ('cached_tokens', models.IntegerField(blank=True, null=True)),
                    ('reasoning_tokens', models.IntegerField(blank=True, null=True)),
                    ('time_to_first_token_ms', models.IntegerField(blank=True, null=True)),
                    ('cycles', models.SmallIntegerField(default=0)),
                    ('message', models.OneToOneField(on_delete=models.CASCADE, related_name='run', to='chat.chatmessage')),
                    ('model_config', models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name='runs', to='chat.modelconfig', verbose_name='model')),
                    ('turn', models.ForeignKey(on_delete=models.CASCADE, related_name='runs', to='chat.turn')),
                    ('cost', models.DecimalField(blank=True, decimal_places=9, max_digits=18, null=True)),
                    ('reasoning_ms', models.IntegerField(blank=True, null=True)),
                    ('history', models.JSONField(db_default=models.Value([], output_field=models.JSONField()), default=list, editable=False)),
                    ('is_imported', models.BooleanField(db_default=False, default=False)),
                    ('upstream_code', models.CharField(blank=True, db_default='', default='', help_text="The model server's own error code or type.", max_length=100)),
                    ('upstream_message', models.TextField(blank=True, db_default='', default='', help_text='What the model server said, without secrets.')),
                    ('upstream_status', models.SmallIntegerField(blank=True, help_text="The HTTP status of the model server's error.", null=True)),
                    ('finish_reason', models.CharField(blank=True, db_default='', default='', max_length=40)),
                    ('finish_tokens', models.IntegerField(blank=True, null=True)),
                    ('continuations', models.SmallIntegerField(db_default=0, default=0)),
                    ('spent_inferences', models.IntegerField(db_default=0, default=0)),
                    ('spent_searches', models.IntegerField(db_default=0, default=0)),
                    ('spent_tokens', models.IntegerField(db_default=0, default=0)),
                    ('spent_tool_calls', models.IntegerField(db_default=0, default=0)),
                    ('are_bases_picked', models.BooleanField(db_default=False, default=False)),
                    ('knowledge_access', models.CharField(blank=True, choices=[('full', 'Full'), ('restricted', 'Restricted')], db_default='', default='', max_length=10)),
                    ('knowledge_bases', ArrayField(base_field=models.UUIDField(), blank=True, db_default=[], default=list, size=None)),
                    ('options', models.JSONField(blank=True, db_default=models.Value({}, output_field=models.JSONField()), default=dict)),
                    ('context_usage', models.JSONField(blank=True, editable=False, null=True)),
                    ('estimated_tokens', models.IntegerField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('created_at', 'model_index'),
                    'indexes': [
                        models.Index(condition=models.Q(('status__in', ['queued', 'running', 'stopping', 'waiting'])), fields=['status', 'lease_until'], name='run_live'),
                        models.Index(condition=models.Q(('announced_at__isnull', True), ('ended_at__isnull', False)), fields=['ended_at'], name='run_unannounced'),
                        models.Index(fields=['created_at'], name='run_by_age'),
                        models.Index(fields=['ended_at'], name='run_by_end'),
                        models.Index(condition=models.Q(('error_code', ''), _negated=True), fields=['error_code', 'created_at'], name='run_by_error'),
                        models.Index(condition=models.Q(('failures__gt', 0)), fields=['created_at'], name='run_taken_over'),
                    ],
                    'constraints': [
                        models.UniqueConstraint(fields=('turn', 'model_index'), name='one_answer_per_turn_and_model'),
                        models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'stopping', 'waiting', 'completed', 'failed', 'stopped'])), name='run_status_known'),
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 0), ('failures__gte', 0)), name='run_counts_not_negative'),
                        models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('last_seq__isnull', False), ('status__in', ['completed', 'failed', 'stopped'])), models.Q(models.Q(('status__in', ['completed', 'failed', 'stopped']), _negated=True), ('ended_at__isnull', True), ('last_seq__isnull', True)), _connector='OR'), name='run_has_an_end_iff_terminal'),
                        models.CheckConstraint(condition=models.Q(models.Q(('status', 'running'), _negated=True), models.Q(('attempt__gte', 1), ('lease_until__isnull', False), ('owner__isnull', False)), _connector='OR'), name='running_run_has_a_lease'),
                        models.CheckConstraint(condition=models.Q(('status', 'failed'), ('error_code', ''), _connector='OR'), name='only_failed_runs_have_an_error'),
                        models.CheckConstraint(condition=models.Q(('announced_at__isnull', True), ('ended_at__isnull', False), _connector='OR'), name='announced_after_the_end'),
                        models.CheckConstraint(condition=models.Q(('cost__isnull', True), ('cost__gte', 0), _connector='OR'), name='run_cost_not_negative'),
                        models.CheckConstraint(condition=models.Q(('knowledge_access__in', ['', 'full', 'restricted'])), name='run_access_known'),
                        models.CheckConstraint(condition=chat.models.run_options.AreOptions(models.F('options')), name='run_options_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='RunSetup',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempt', models.IntegerField()),
                    ('agent', models.UUIDField(blank=True, null=True)),
                    ('agent_name', models.CharField(blank=True, default='', max_length=200)),
                    ('options', models.JSONField(help_text='What held for its requests beside the prompts.')),
                    ('run', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='setups', to='chat.run')),
                    ('version', models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name='setups', to='chat.promptversion')),
                ],
                options={
                    'ordering': ('run', 'attempt'),
                    'indexes': [models.Index(fields=['version'], name='setup_by_version')],
                    'constraints': [
                        models.UniqueConstraint(fields=('run', 'attempt'), name='one_setup_per_attempt'),
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 1)), name='setup_of_an_attempt'),
                        models.CheckConstraint(condition=models.Q(('agent__isnull', False), ('agent_name', ''), _connector='OR'), name='setup_names_no_agent_without_one'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='SavedPrompt',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=200)),
                    ('text', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('owner', models.ForeignKey(on_delete=models.CASCADE, related_name='saved_prompts', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'indexes': [models.Index(fields=['owner', '-updated_at', '-id'], name='saved_prompt_by_owner')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='saved_prompt_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='Session',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('title', models.CharField(blank=True, default='', max_length=200)),
                    ('while_answering', models.CharField(choices=[('reject', 'Reject'), ('enqueue', 'Enqueue'), ('interrupt', 'Interrupt')], default='enqueue', max_length=9)),
                    ('latest_event', models.BigIntegerField(default=0)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('leaf', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='+', to='chat.chatmessage')),
                    ('owner', models.ForeignKey(on_delete=models.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL)),
                    ('agent', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='sessions', to='chat.agent')),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='sessions', to='knowledge.project')),
                    ('seen_event', models.BigIntegerField(default=0)),
                    ('answered_event', models.BigIntegerField(default=0)),
                    ('has_provisional_title', models.BooleanField(db_column='has_makeshift_title', db_default=False, default=False)),
                    ('has_own_models', models.BooleanField(db_default=False, default=False)),
                    ('models', ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None)),
                    ('stored_bytes', models.BigIntegerField(db_default=0, default=0, editable=False)),
                    ('is_measured', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('reminder', models.TextField(blank=True, db_default='', default='')),
                    ('tools', ArrayField(base_field=models.CharField(max_length=64), blank=True, db_default=[], default=list, size=None)),
                    ('knowledge_bases', ArrayField(base_field=models.UUIDField(), blank=True, db_default=[], default=list, size=None)),
                    ('is_archived', models.BooleanField(db_default=False, default=False)),
                    ('is_pinned', models.BooleanField(db_default=False, default=False)),
                    ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('purge_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('options', models.JSONField(blank=True, db_default=models.Value({}, output_field=models.JSONField()), default=dict)),
                    ('prompt', models.TextField(blank=True, db_default='', default='')),
                    ('temporary_until', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('tags', ArrayField(base_field=models.CharField(max_length=40), blank=True, db_default=[], default=list, size=None)),
                    ('has_picked_bases', models.BooleanField(db_default=False, default=False)),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'indexes': [
                        models.Index(fields=['owner', '-updated_at', '-id'], name='session_by_owner'),
                        models.Index(fields=['updated_at'], name='session_by_age'),
                        models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', '-deleted_at', '-id'], name='session_trash'),
                        models.Index(condition=models.Q(('purge_at__isnull', False)), fields=['purge_at'], name='session_to_purge'),
                        models.Index(condition=models.Q(('is_measured', False)), fields=['id'], name='session_unmeasured'),
                        models.Index(condition=models.Q(('temporary_until__isnull', False)), fields=['temporary_until'], name='session_temporary'),
                    ],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('while_answering__in', ['reject', 'enqueue', 'interrupt'])), name='session_while_answering_known'),
                        models.CheckConstraint(condition=models.Q(models.Q(('deleted_at__isnull', True), ('purge_at__isnull', True)), models.Q(('deleted_at__isnull', False), ('purge_at__isnull', False)), _connector='OR'), name='session_in_trash_is_purged'),
                        models.CheckConstraint(condition=chat.models.run_options.AreOptions(models.F('options')), name='session_options_known'),
                        models.CheckConstraint(condition=models.Q(('temporary_until__isnull', True), models.Q(('is_archived', False), ('is_pinned', False), ('project__isnull', True)), _connector='OR'), name='temporary_session_is_in_no_list'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Compression',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('model', models.CharField(help_text='That answers on this branch; its window is the one to fit.', max_length=200)),
                    ('triggered_by', models.CharField(choices=[('auto', 'Auto'), ('user', 'User'), ('staff', 'Staff')], max_length=5)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('refused', 'Refused'), ('nothing', 'Nothing')], default='queued', max_length=8)),
                    ('attempt', models.IntegerField(default=0)),
                    ('failures', models.IntegerField(default=0)),
                    ('owner', models.BigIntegerField(blank=True, null=True)),
                    ('beat_at', models.DateTimeField(blank=True, null=True)),
                    ('lease_until', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('queued_at', models.DateTimeField(db_default=Now())),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('in_vain', models.IntegerField(default=0)),
                    ('retry_at', models.DateTimeField(blank=True, null=True)),
                    ('error_code', models.CharField(blank=True, default='', max_length=40)),
                    ('tokens_before', models.IntegerField(blank=True, help_text='Of the history: the summary in force and the messages after it.', null=True)),
                    ('tokens_after', models.IntegerField(blank=True, help_text='Of the history with the new summary.', null=True)),
                    ('reserved_tokens', models.IntegerField(blank=True, help_text='Of the window, for everything that is not history.', null=True)),
                    ('history_window', models.IntegerField(blank=True, help_text='Tokens that are left for history.', null=True)),
                    ('prompt_tokens', models.IntegerField(blank=True, null=True)),
                    ('completion_tokens', models.IntegerField(blank=True, null=True)),
                    ('cost', models.DecimalField(blank=True, decimal_places=9, max_digits=18, null=True)),
                    ('leaf', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to='chat.chatmessage')),
                    ('model_config', models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name='+', to='chat.modelconfig', verbose_name='model')),
                    ('parent', models.ForeignKey(on_delete=models.CASCADE, related_name='compressions', to='chat.chatmessage')),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='compressions', to='chat.session')),
                    ('summary', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='made_by', to='chat.chatmessage')),
                    ('upstream_code', models.CharField(blank=True, db_default='', default='', help_text="The model server's own error code or type.", max_length=100)),
                    ('upstream_message', models.TextField(blank=True, db_default='', default='', help_text='What the model server said, without secrets.')),
                    ('upstream_status', models.SmallIntegerField(blank=True, help_text="The HTTP status of the model server's error.", null=True)),
                    ('is_history_cut', models.BooleanField(db_default=False, default=False, help_text='The run that requested it could not be shown its whole history, so it is due in any case.')),
                    ('request_id', models.CharField(blank=True, db_default='', default='', max_length=64)),
                    ('estimated_tokens', models.IntegerField(blank=True, help_text='Of the prompt and completion tokens, those that the server did not report.', null=True)),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'indexes': [
                        models.Index(fields=['session', 'created_at'], name='compression_by_session'),
                        models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['status', 'lease_until'], name='compression_live'),
                    ],
                    'constraints': [
                        models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running'))), fields=('parent',), name='one_live_compression_per_parent'),
                        models.CheckConstraint(condition=models.Q(('triggered_by__in', ['auto', 'user', 'staff'])), name='compression_trigger_known'),
                        models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status__in', ('queued', 'running'))), models.Q(models.Q(('status__in', ('queued', 'running')), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='compression_has_an_end_iff_over'),
                        models.CheckConstraint(condition=models.Q(models.Q(('status', 'running'), _negated=True), models.Q(('attempt__gte', 1), ('lease_until__isnull', False), ('owner__isnull', False)), _connector='OR'), name='running_compression_has_a_lease'),
                        models.CheckConstraint(condition=models.Q(('status__in', ('failed', 'refused')), ('error_code', ''), _connector='OR'), name='only_vain_compressions_have_an_error'),
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 0), ('failures__gte', 0), ('in_vain__gte', 0)), name='compression_counts_not_negative'),
                        models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'done', 'failed', 'refused', 'nothing'])), name='compression_status_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='SessionEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('n', models.BigIntegerField()),
                    ('kind', models.CharField(max_length=20)),
                    ('payload', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='events', to='chat.session')),
                ],
                options={
                    'indexes': [models.Index(fields=['created_at'], name='session_event_by_age')],
                    'constraints': [models.UniqueConstraint(fields=('session', 'n'), name='one_event_per_number')],
                },
            ),
            migrations.CreateModel(
                name='Share',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('shows_details', models.BooleanField(default=False, help_text='Reasoning, and what tools were asked and answered.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('leaf', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to='chat.chatmessage')),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='shares', to='chat.session')),
                    ('title', models.CharField(blank=True, editable=False, max_length=200, null=True)),
                    ('pages', models.JSONField(blank=True, editable=False, null=True)),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                },
            ),
            migrations.CreateModel(
                name='SideRequest',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('purpose', models.CharField(choices=[('title', 'Title'), ('summary', 'Summary'), ('safe_summary', 'Safe Summary'), ('expansion', 'Expansion')], max_length=12)),
                    ('attempt', models.IntegerField(default=1)),
                    ('number', models.IntegerField(default=1)),
                    ('model', models.CharField(max_length=200)),
                    ('sent_at', models.DateTimeField()),
                    ('error_code', models.CharField(blank=True, default='', max_length=40)),
                    ('finish_reason', models.CharField(blank=True, default='', max_length=40)),
                    ('prompt_tokens', models.IntegerField(blank=True, null=True)),
                    ('completion_tokens', models.IntegerField(blank=True, null=True)),
                    ('cached_tokens', models.IntegerField(blank=True, null=True)),
                    ('reasoning_tokens', models.IntegerField(blank=True, null=True)),
                    ('cost', models.DecimalField(blank=True, decimal_places=9, max_digits=18, null=True)),
                    ('messages', models.JSONField(blank=True, null=True)),
                    ('reply', models.TextField(blank=True, default='')),
                    ('compression', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='side_requests', to='chat.compression')),
                    ('run', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='side_requests', to='chat.run')),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='side_requests', to='chat.session')),
                    ('estimated_tokens', models.IntegerField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('sent_at', 'number', 'id'),
                    'indexes': [
                        models.Index(fields=['sent_at'], name='side_request_by_age'),
                        models.Index(condition=models.Q(('messages__isnull', False)), fields=['sent_at'], name='side_request_with_text'),
                    ],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 1), ('number__gte', 1)), name='side_request_counts_positive'),
                        models.CheckConstraint(condition=models.Q(('cost__isnull', True), ('cost__gte', 0), _connector='OR'), name='side_request_cost_not_negative'),
                        models.CheckConstraint(condition=models.Q(models.Q(('compression__isnull', True), ('purpose__in', ['title', 'safe_summary', 'expansion']), ('run__isnull', False)), models.Q(('compression__isnull', False), ('purpose', 'summary'), ('run__isnull', True)), _connector='OR'), name='side_request_is_for_run_or_compression'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='SystemPrompt',
                fields=[
                    ('id', models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                    ('text', models.TextField(blank=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='one_system_prompt')],
                },
            ),
            migrations.CreateModel(
                name='TokenScope',
                fields=[
                    ('token', models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name='scope_row', serialize=False, to='knox.AuthToken')),
                    ('scope', models.CharField(choices=[('read', 'read'), ('write', 'write')], max_length=10)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'write'])), name='token_scope_known')],
                },
            ),
            migrations.CreateModel(
                name='ToolCall',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('turn_number', models.SmallIntegerField()),
                    ('tab_index', models.SmallIntegerField(default=0)),
                    ('tool_call_id', models.CharField(max_length=200)),
                    ('name', models.CharField(max_length=64)),
                    ('arguments', models.JSONField(default=dict)),
                    ('response', models.TextField(blank=True, default='')),
                    ('text_before', models.TextField(blank=True, default='')),
                    ('reasoning', models.TextField(blank=True, default='')),
                    ('token_count', models.IntegerField(default=0)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('waiting', 'Waiting'), ('running', 'Running'), ('completed', 'Completed'), ('failed', 'Failed'), ('refused', 'Refused'), ('unknown', 'Unknown')], default='pending', max_length=9)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('message', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='tool_calls', to='chat.chatmessage')),
                    ('parent_tool_call', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='children', to='chat.toolcall')),
                    ('run', models.ForeignKey(on_delete=models.CASCADE, related_name='tool_calls', to='chat.run')),
                    ('documents', models.JSONField(blank=True, default=list)),
                    ('report', models.TextField(blank=True, default='')),
                    ('report_reasoning', models.TextField(blank=True, default='')),
                    ('duration_ms', models.IntegerField(blank=True, null=True)),
                    ('reasoning_ms', models.IntegerField(blank=True, null=True)),
                    ('sent_back', models.JSONField(blank=True, editable=False, null=True)),
                    ('structured', models.JSONField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('turn_number', 'tab_index', 'created_at'),
                    'indexes': [models.Index(fields=['created_at'], name='tool_call_by_age')],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(models.Q(('message__isnull', False), ('parent_tool_call__isnull', True)), models.Q(('message__isnull', True), ('parent_tool_call__isnull', False)), _connector='OR'), name='tool_call_has_one_parent'),
                        models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'waiting', 'running', 'completed', 'failed', 'refused', 'unknown'])), name='tool_call_status_known'),
                        models.UniqueConstraint(fields=('message', 'turn_number', 'tab_index'), name='one_tool_call_per_place_in_message'),
                        models.UniqueConstraint(fields=('parent_tool_call', 'turn_number', 'tab_index'), name='one_tool_call_per_place_in_tool_call'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='SentRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempt', models.IntegerField()),
                    ('cycle', models.SmallIntegerField()),
                    ('common', models.IntegerField(help_text='How many of its first messages are those of the cycle before.')),
                    ('messages', models.JSONField(help_text='The others, as they were sent; pictures are left out.')),
                    ('tokens', models.IntegerField(help_text='Of all its messages, by our own count.')),
                    ('prefix_share', models.FloatField(help_text='Part of the tokens that repeat the beginning of the request before it.')),
                    ('sent_at', models.DateTimeField()),
                    ('run', models.ForeignKey(on_delete=models.CASCADE, related_name='sent_requests', to='chat.run')),
                    ('tool_call', models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name='sent_requests', to='chat.toolcall')),
                    ('parts', models.JSONField(blank=True, default=list, help_text='Of the others, each: its letter, and its tokens by our own count.')),
                    ('account', models.JSONField(blank=True, default=dict, help_text='What it was built for, and what of the branch it does not hold, and why.')),
                ],
                options={
                    'ordering': ('run', 'attempt', 'sent_at', 'id'),
                    'indexes': [models.Index(fields=['sent_at'], name='sent_request_by_age')],
                    'constraints': [
                        models.UniqueConstraint(fields=('run', 'attempt', 'tool_call', 'cycle'), name='one_sent_request_per_cycle', nulls_distinct=False),
                        models.CheckConstraint(condition=models.Q(('attempt__gte', 1), ('common__gte', 0), ('cycle__gte', 1), ('tokens__gte', 0)), name='sent_request_counts_not_negative'),
                        models.CheckConstraint(condition=models.Q(('prefix_share__gte', 0), ('prefix_share__lte', 1)), name='prefix_share_is_a_share'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Approval',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=64)),
                    ('arguments', models.JSONField(default=dict)),
                    ('parameters', models.JSONField(default=dict)),
                    ('requested_at', models.DateTimeField(db_default=Now())),
                    ('expires_at', models.DateTimeField()),
                    ('decision', models.CharField(blank=True, choices=[('approved', 'Approved'), ('refused', 'Refused'), ('answered', 'Answered'), ('declined', 'Declined'), ('signed_in', 'Signed in'), ('expired', 'Expired'), ('stopped', 'Stopped')], default='', max_length=9)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('note', models.CharField(blank=True, default='', max_length=2000)),
                    ('edited_arguments', models.JSONField(blank=True, null=True)),
                    ('is_remembered', models.BooleanField(default=False)),
                    ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('owner', models.ForeignKey(on_delete=models.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='approvals', to='chat.session')),
                    ('tool_call', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='approvals', related_query_name='approval', to='chat.toolcall')),
                    ('kind', models.CharField(choices=[('approval', 'Approval'), ('question', 'Question'), ('address', 'Address'), ('sign_in', 'Sign in')], db_default='approval', default='approval', max_length=8)),
                    ('message', models.TextField(blank=True, db_default='', default='')),
                    ('form', models.TextField(blank=True, db_default='', default='')),
                    ('answer', models.JSONField(blank=True, null=True)),
                    ('url', models.CharField(blank=True, db_default='', default='', max_length=2000)),
                    ('server', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.SET_NULL, related_name='+', to='chat.mcpserver')),
                    ('credential', models.UUIDField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('-requested_at',),
                    'indexes': [
                        models.Index(models.F('owner'), models.F('requested_at'), condition=models.Q(('decision', '')), name='approval_open_by_owner'),
                        models.Index(models.F('expires_at'), condition=models.Q(('decision', '')), name='approval_open_by_expiry'),
                        models.Index(models.F('session'), condition=models.Q(('is_remembered', True)), name='approval_remembered'),
                        models.Index(fields=['tool_call', 'requested_at'], name='approval_by_call'),
                        models.Index(models.F('server'), condition=models.Q(('server__isnull', False)), name='approval_by_server'),
                    ],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('decision__in', ['', 'approved', 'refused', 'answered', 'declined', 'signed_in', 'expired', 'stopped'])), name='approval_decision_known'),
                        models.CheckConstraint(condition=models.Q(models.Q(('form', ''), ('kind__in', ['approval', 'address', 'sign_in'])), models.Q(('kind', 'question'), models.Q(('form', ''), _negated=True)), _connector='OR'), name='approval_question_has_form'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='ToolCallImage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.SmallIntegerField()),
                    ('file', models.ForeignKey(on_delete=models.CASCADE, related_name='tool_calls', to='knowledge.file')),
                    ('tool_call', models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name='images', to='chat.toolcall')),
                ],
                options={
                    'ordering': ('tool_call', 'position'),
                    'constraints': [models.UniqueConstraint(fields=('tool_call', 'position'), name='one_tool_image_per_position')],
                },
            ),
            migrations.CreateModel(
                name='ToolPolicy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='The name that models call the tool by.', max_length=64, unique=True)),
                    ('approval', models.CharField(choices=[('never', 'never'), ('ask', 'ask'), ('ask_unless_read_only', 'ask unless read only')], default='ask_unless_read_only', help_text='Whether the user is asked before the tool is called.', max_length=20)),
                ],
                options={
                    'verbose_name_plural': 'tool policies',
                    'ordering': ('name',),
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('approval__in', ['never', 'ask', 'ask_unless_read_only'])), name='tool_policy_approval_known'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Turn',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('after', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='followers', to='chat.turn')),
                    ('session', models.ForeignKey(on_delete=models.CASCADE, related_name='turns', to='chat.session')),
                    ('user_message', models.ForeignKey(on_delete=models.CASCADE, related_name='turns', to='chat.chatmessage')),
                    ('additional_context', models.TextField(blank=True, db_default='', default='')),
                    ('request_id', models.CharField(blank=True, db_default='', default='', max_length=64)),
                    ('origin', models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name='retries', to='chat.turn')),
                    ('knowledge_bases', ArrayField(base_field=models.UUIDField(), blank=True, null=True, size=None)),
                    ('earlier_knowledge_bases', ArrayField(base_field=models.UUIDField(), blank=True, null=True, size=None)),
                ],
                options={
                    'ordering': ('created_at', 'id'),
                    'indexes': [
                        models.Index(condition=models.Q(('ended_at', None)), fields=['session'], name='turn_in_progress'),
                        models.Index(fields=['created_at'], name='turn_by_age'),
                        models.Index(condition=models.Q(('request_id', ''), _negated=True), fields=['request_id'], name='turn_by_request'),
                    ],
                },
            ),
        ),
        *(
            migrations.RunSQL(f"ALTER TABLE chat_chatmessage ADD CONSTRAINT {name} {key} DEFERRABLE INITIALLY DEFERRED")
            for name, key in KEYS.items()
        ),
        migrations.RunSQL(SHARE_KEY),
        migrations.RunSQL(LOGIN_KEY),
        migrations.RunSQL(SEARCH),
        migrations.RunSQL(NORMAL_WORDS),
        migrations.RunSQL(DELETE_FILES),
    ]
