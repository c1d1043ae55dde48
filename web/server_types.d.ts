/** What the server sends and accepts. Written by `make types` from its msgspec Structs: do not edit. */

interface AcceptBody {
  /** Of an owner: the base may count for the user, when the owner leaves that it counts for. */
  ownership?: boolean;
}

interface AddressQuestionAnswer {
  message: string;
  /** Chosen by the server: show it as it is before it is opened in a browser. */
  url: string;
}

interface AgUiContextBody {
  description: string;
  value: string;
}

interface AgUiResumeBody {
  interruptId: string;
  status: "resolved" | "cancelled";
  /** To a `tool_call`: `approved`, and perhaps `editedArgs` and a `note`; to a `question`: the values of its form. */
  payload?: any;
}

interface AgUiRunBody {
  /** The id of a chat of yours; any other is a new chat of yours, and from then on that chat. */
  threadId: string;
  /** The same id in the same thread again joins the run. */
  runId: string;
  /** The conversation. Behind the last message that the thread has, the new ones are taken. */
  messages: any[];
  /** Functions that the frontend carries out. */
  tools?: any[] | null;
  /** The model reads it. */
  context?: AgUiContextBody[] | null;
  /** Answers to interrupts. */
  resume?: AgUiResumeBody[] | null;
  /** Not used. */
  state?: any;
  /** Not used. */
  forwardedProps?: any;
  /** Not used. */
  parentRunId?: any;
  /** Not used. */
  protocolVersion?: any;
}

interface AgentAnswer {
  id: string;
  name: string;
  emoji: string;
  description: string;
  /** What to suggest for a new chat with it. */
  questions: string[];
  prompt: string;
  replaces_system_prompt: boolean;
  reminder: string;
  tools: string[];
  models: string[];
  knowledge_bases: string[];
  /** As they were sent. */
  options: Record<string, any>;
  context_layout: "moving" | "append_only";
  /** Ids of groups; of an agent of somebody else: empty. */
  shared_with: number[];
  /** User names; of an agent of somebody else: empty. */
  shared_with_users: string[];
  /** Whether somebody else shares it with the user by name, so that `share/` takes it off the list. */
  is_shared_by_name: boolean;
  /** Whose it is; null: the user's own. */
  shared_by: string | null;
  created_at: string;
  updated_at: string;
}

interface AgentBody {
  name: string;
  emoji?: string;
  description?: string;
  questions?: string[];
  prompt: string;
  replaces_system_prompt?: boolean;
  reminder?: string;
  tools?: string[];
  models?: string[];
  knowledge_bases?: string[];
  /** Of turns whose session does not say otherwise; replaces all earlier ones. */
  options?: OptionsBody;
  shared_with?: number[];
  /** Names of users. */
  shared_with_users?: string[];
  context_layout?: "moving" | "append_only";
}

interface AnsweringAgentAnswer {
  id: string;
  name: string;
}

interface ApprovalBody {
  /** Of a question: whether it is answered; false: declined. Of an address: that the user is done there. Of a sign-in: true asks whether there is one now, which lets the call go on by itself as soon as there is; false: goes on without. */
  approved: boolean;
  /** With a refusal or an answer, the model reads it. */
  note?: string;
  /** The answer to a question, by the names of its form, which it has to fit. At most 100000 characters. */
  values?: Record<string, any>;
  /** Instead of those that the model wants; they have to match the tool's schema. At most 100000 characters. */
  arguments?: Record<string, any>;
  /** Later calls of the tool in this session are not asked about. Not of questions. */
  remember?: "session";
}

interface BulkBody {
  ids: string[];
  /** `delete`: into the trash; `restore`: out of it again. */
  action: "archive" | "unarchive" | "delete" | "restore";
}

interface ChangedSession {
  title: string;
  agent: string | null;
  project: string | null;
  knowledge_bases: string[];
  /** Those that the owner chose or a turn named last; may be empty. */
  models: string[];
  /** Clients show it above the others. */
  is_pinned: boolean;
  /** It is left out of the list, and found by searches. */
  is_archived: boolean;
  tags: string[];
  /** It has run options or a prompt; read them by REST. */
  has_options: boolean;
  /** Of a temporary session, whose changes session_changed does not tell; false also once it is kept. */
  is_temporary: boolean;
  /** The tip of the current branch. */
  leaf: string | null;
  while_answering: "reject" | "enqueue" | "interrupt";
  tools: string[];
}

interface CheckErrorAnswer {
  /** `address_refused`, `redirected`, `no_model_list`, `not_json`, `not_openai`, `list_too_long`, `key_unreadable`, `encryption_unavailable`, or one of a run's. */
  code: string;
  message: string;
  /** What the server said, redacted; may be empty. */
  detail: string;
}

interface CitationAnswer {
  number: number;
  document_id: string;
  title: string;
  url?: string;
}

interface CompressionAnswer {
  summary: SummaryAnswer | null;
  is_under_way: boolean;
}

interface CompressionAskedAnswer {
  status: "queued" | "nothing_to_compress";
}

interface ContextAnswer {
  /** The model's context window. */
  window: number;
  /** Kept for the answer and for errors of the estimate. */
  reserved: number;
  /** System prompt, agent prompt and reminders. */
  system: number;
  /** Descriptions of the tools. */
  tools: number;
  summary: number;
  /** Messages above the question. */
  history: number;
  /** Files, projects, knowledge bases and context of this turn. */
  files: number;
  /** The question and the tool calls of this turn. */
  question: number;
  /** The sum of the six above. */
  used: number;
  free: number;
  compression: NextCompressionAnswer;
  /** Chosen tools that the model's server refuses, or that are more than it takes. */
  left_out_tools?: number;
}

interface ConversationRemark {
  title: string;
  /** Its name in the zip; empty: a JSON file was sent. */
  file: string;
  /** In the file, from 1. */
  line: number;
  /** The path of the member in the file. */
  field: string;
  code: string;
  message: string;
  /** The chat, which is imported. */
  session: string;
}

interface Credentials {
  username: string;
  password: string;
}

interface CursorAnswer {
  attempt: number;
  seq: number;
}

interface DecisionAnswer {
  tool_call: string;
  decision: "approved" | "refused" | "answered" | "declined" | "signed_in";
}

interface DeletedMessageAnswer {
  /** The session in the trash that restores it; null: it is deleted for good. */
  part: string | null;
}

interface DocumentAnswer {
  id: string;
  /** As `url`, `content_type` and `size`, of the version that is found, if there is one. */
  title: string;
  /** Where it was read; null if it was given. */
  url: string | null;
  /** `ready`: its text and its vectors are found. Until then a search finds the version that was ready before. */
  status: "processing" | "ready" | "failed";
  /** Why it failed. */
  error: FileErrorAnswer | null;
  kind: "text" | "image" | "tabular";
  content_type: string;
  /** Bytes of the content. */
  size: number;
  /** Of the extracted text. */
  token_count: number;
  created_at: string;
  /** Pages that are pictures without text; all but the first of a TIFF. */
  unread_pages: number;
  /** Of tables that the text shows in part: their rows without the names of the columns. */
  table_rows: number;
  /** Of these rows: the first ones, which the text has. */
  shown_rows: number;
}

interface DocumentBody {
  title?: string;
  /** Plain text or Markdown. */
  text?: string;
  file?: string;
  /** Read afterwards, like a file: what does not work is the document's error. */
  url?: string;
}

interface DocumentCountsAnswer {
  processing: number;
  ready: number;
  failed: number;
}

interface DocumentForm {
  file: string;
  title?: string;
}

interface DocumentPage {
  next: string | null;
  previous: string | null;
  results: DocumentAnswer[];
}

interface ErrorAnswer {
  code: "bad_request" | "not_authenticated" | "permission_denied" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "unavailable" | "invalid_json" | "json_too_deep" | "invalid_encoding" | "invalid_characters" | "invalid_type" | "invalid_value" | "invalid_id" | "invalid_pagination" | "invalid_cursor" | "unknown_type" | "unsupported_frame" | "unknown_field" | "field_required" | "headers_too_large" | "too_many_connections" | "too_many_uploads" | "invalid_credentials" | "token_read_only" | "token_out_of_scope" | "csrf_failed" | "login_busy" | "session_not_found" | "temporary_session" | "message_not_found" | "parent_not_found" | "turn_not_found" | "run_not_found" | "tool_call_not_found" | "file_not_found" | "file_empty" | "file_too_large" | "file_type_mismatch" | "too_many_files" | "too_many_waiting_files" | "file_storage_unavailable" | "invalid_multipart" | "invalid_range" | "file_processing" | "attachments_too_large" | "file_failed" | "token_not_found" | "tag_not_found" | "share_not_found" | "agent_not_found" | "prompt_not_found" | "webhook_not_found" | "provider_not_found" | "project_not_found" | "knowledge_base_not_found" | "document_not_found" | "member_not_found" | "user_not_found" | "not_allowed" | "already_member" | "too_many_invitations" | "too_many_shared_agents" | "last_owner" | "owner_without_room" | "mcp_server_not_found" | "mcp_server_name_taken" | "mcp_command_refused" | "mcp_url_refused" | "mcp_variable_refused" | "mcp_server_without_sign_in" | "mcp_resource_not_found" | "mcp_prompt_not_found" | "mcp_request_not_found" | "mcp_server_unavailable" | "mcp_server_refused" | "mcp_sign_in_needed" | "not_signed_in" | "too_many_mcp_servers" | "encryption_unavailable" | "provider_address_invalid" | "provider_key_required" | "provider_name_taken" | "model_name_taken" | "too_many_providers" | "too_many_models" | "too_many_sessions" | "too_many_projects" | "too_many_agents" | "too_many_tags" | "too_many_prompts" | "too_many_webhooks" | "too_many_tokens" | "too_many_knowledge_bases" | "too_many_documents" | "too_many_chunks" | "storage_full" | "too_many_sockets" | "too_many_answers" | "message_empty" | "message_too_long" | "models_invalid" | "option_unsupported" | "tool_unknown" | "tool_not_configured" | "role_order" | "session_not_empty" | "parent_in_progress" | "answer_in_progress" | "turn_in_progress" | "not_continuable" | "run_limit_reached" | "not_waiting" | "already_decided" | "tool_unavailable" | "arguments_invalid" | "answer_invalid" | "idempotency_mismatch" | "too_many_runs" | "daily_limit_reached" | "too_many_shares" | "queue_full" | "stream_unavailable";
  message: string;
  /** What of the request is wrong, as a path of names. */
  field?: string;
  /** What a limit is called, or how much it allows. Of `body_too_large`, bytes or values; of `message_too_long`, characters; of `daily_limit_reached`, its code in `usage/limits/`; of attachments, the tokens that fit; of `file_too_large`, bytes. */
  limit?: string | number;
  /** Of `message_too_long`: the text's characters; of `invalid_range`: the file's bytes. */
  size?: number;
  /** Of a quota: what may be kept; of a daily limit: what may be used. */
  max?: number | null;
  /** Of a daily limit: what is used. */
  used?: number;
  /** Of a daily limit: when it starts again at 0. */
  resets_at?: string | null;
  /** Of `attachments_too_large`: the model that they do not fit. */
  model?: string;
  /** Of `attachments_too_large`: their tokens. */
  token_count?: number;
  /** The file that cannot be used. */
  file?: string;
  /** Of `file_type_mismatch`: what the content is. */
  content_type?: string;
  /** Of `file_failed`: why the file could not be read. */
  error?: string;
  /** Of `invalid_json` in an export of another product: the line, from 1. */
  line?: number;
  request_id: string;
}

interface ErrorMembers {
  code: "bad_request" | "not_authenticated" | "permission_denied" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "unavailable" | "invalid_json" | "json_too_deep" | "invalid_encoding" | "invalid_characters" | "invalid_type" | "invalid_value" | "invalid_id" | "invalid_pagination" | "invalid_cursor" | "unknown_type" | "unsupported_frame" | "unknown_field" | "field_required" | "headers_too_large" | "too_many_connections" | "too_many_uploads" | "invalid_credentials" | "token_read_only" | "token_out_of_scope" | "csrf_failed" | "login_busy" | "session_not_found" | "temporary_session" | "message_not_found" | "parent_not_found" | "turn_not_found" | "run_not_found" | "tool_call_not_found" | "file_not_found" | "file_empty" | "file_too_large" | "file_type_mismatch" | "too_many_files" | "too_many_waiting_files" | "file_storage_unavailable" | "invalid_multipart" | "invalid_range" | "file_processing" | "attachments_too_large" | "file_failed" | "token_not_found" | "tag_not_found" | "share_not_found" | "agent_not_found" | "prompt_not_found" | "webhook_not_found" | "provider_not_found" | "project_not_found" | "knowledge_base_not_found" | "document_not_found" | "member_not_found" | "user_not_found" | "not_allowed" | "already_member" | "too_many_invitations" | "too_many_shared_agents" | "last_owner" | "owner_without_room" | "mcp_server_not_found" | "mcp_server_name_taken" | "mcp_command_refused" | "mcp_url_refused" | "mcp_variable_refused" | "mcp_server_without_sign_in" | "mcp_resource_not_found" | "mcp_prompt_not_found" | "mcp_request_not_found" | "mcp_server_unavailable" | "mcp_server_refused" | "mcp_sign_in_needed" | "not_signed_in" | "too_many_mcp_servers" | "encryption_unavailable" | "provider_address_invalid" | "provider_key_required" | "provider_name_taken" | "model_name_taken" | "too_many_providers" | "too_many_models" | "too_many_sessions" | "too_many_projects" | "too_many_agents" | "too_many_tags" | "too_many_prompts" | "too_many_webhooks" | "too_many_tokens" | "too_many_knowledge_bases" | "too_many_documents" | "too_many_chunks" | "storage_full" | "too_many_sockets" | "too_many_answers" | "message_empty" | "message_too_long" | "models_invalid" | "option_unsupported" | "tool_unknown" | "tool_not_configured" | "role_order" | "session_not_empty" | "parent_in_progress" | "answer_in_progress" | "turn_in_progress" | "not_continuable" | "run_limit_reached" | "not_waiting" | "already_decided" | "tool_unavailable" | "arguments_invalid" | "answer_invalid" | "idempotency_mismatch" | "too_many_runs" | "daily_limit_reached" | "too_many_shares" | "queue_full" | "stream_unavailable";
  message: string;
  /** What of the request is wrong, as a path of names. */
  field?: string;
  /** What a limit is called, or how much it allows. Of `body_too_large`, bytes or values; of `message_too_long`, characters; of `daily_limit_reached`, its code in `usage/limits/`; of attachments, the tokens that fit; of `file_too_large`, bytes. */
  limit?: string | number;
  /** Of `message_too_long`: the text's characters; of `invalid_range`: the file's bytes. */
  size?: number;
  /** Of a quota: what may be kept; of a daily limit: what may be used. */
  max?: number | null;
  /** Of a daily limit: what is used. */
  used?: number;
  /** Of a daily limit: when it starts again at 0. */
  resets_at?: string | null;
  /** Of `attachments_too_large`: the model that they do not fit. */
  model?: string;
  /** Of `attachments_too_large`: their tokens. */
  token_count?: number;
  /** The file that cannot be used. */
  file?: string;
  /** Of `file_type_mismatch`: what the content is. */
  content_type?: string;
  /** Of `file_failed`: why the file could not be read. */
  error?: string;
  /** Of `invalid_json` in an export of another product: the line, from 1. */
  line?: number;
}

interface FeedbackAnswer {
  is_positive: boolean | null;
  text: string;
}

interface FeedbackBody {
  is_positive?: boolean | null;
  text?: string;
}

interface FileAnswer {
  /** Pages that are pictures without text; all but the first of a TIFF. */
  unread_pages?: number;
  /** Of these pages: the first ones, which models that see are shown as pictures. */
  shown_pages?: number;
  /** Of tables that the text shows in part: their rows without the names of the columns. */
  table_rows?: number;
  /** Of these rows: the first ones, which the text has. */
  shown_rows?: number;
  id: string;
  name: string;
  content_type: string;
  /** Bytes of the content; of a picture once it is ready, without metadata. */
  size: number;
  status: "processing" | "ready" | "failed";
  /** Of the extracted text, in cl100k_base; of a picture, what models that see it are charged. */
  token_count: number;
  kind: "text" | "image" | "tabular";
  project: string | null;
  created_at: string;
  /** Of a picture that is ready, in pixels. */
  width?: number;
  height?: number;
  /** Of a picture. */
  has_thumbnail?: boolean;
  /** Once it is ready: by model, whether it fits into a request, counted in the model's own encoding if that is known. */
  fits?: Record<string, boolean>;
  error?: FileErrorAnswer;
}

interface FileErrorAnswer {
  code: string;
  message: string;
}

interface FileForm {
  file: string;
  project?: string;
}

interface FilePage {
  next: string | null;
  previous: string | null;
  results: FileAnswer[];
}

interface ForeignImportAnswer {
  imported: ImportedConversation[];
  refused: RefusedConversation[];
  /** What the chats that are new lack: contents of files that are refused, pictures of answers, and texts of answers that are empty; 100 at most. */
  remarks: ConversationRemark[];
  /** False: time or room ran out; the same file, sent again, continues where it ended. */
  is_complete: boolean;
}

interface ForkBody {
  /** The answer in which the new session ends. */
  message: string;
  /** Empty: the session's, numbered. */
  title?: string;
}

interface FoundAnswer {
  document_id: string;
  title: string;
  text: string;
  /** In the document's text, in characters. */
  start: number;
  /** Of this search alone, the higher the better. */
  score: number;
  /** By words, from 1. */
  lexical_rank?: number;
  /** By meaning, from 1. */
  vector_rank?: number;
}

interface FoundMessageAnswer {
  message: string;
  /** The text around the words; null in scripts without spaces. */
  match: string | null;
}

interface GroupAnswer {
  id: number;
  name: string;
  /** Whether the user is one. */
  is_member: boolean;
}

interface ImportedConversation {
  session: string;
  title: string;
  /** False: an earlier import has brought it. */
  is_new: boolean;
}

interface IndexingAnswer {
  /** Those that searches find. */
  chunks: number;
  /** Those of them that are found by words alone until they have a vector. */
  waiting: number;
}

interface KnowledgeBaseAnswer {
  id: string;
  name: string;
  /** Empty or null for a restricted member. */
  summary: string;
  /** Empty or null for a restricted member. */
  topics: string[];
  routing_hint: string;
  routing_keywords: string[];
  /** Of the user who asks. */
  role: "owner" | "editor" | "reader" | "restricted";
  /** The id of the user's own membership, by which the user leaves. */
  member: string;
  /** By the user; `false`: an invitation, of which no event tells, accepted by `accept/` or by choosing the base. */
  accepted: boolean;
  /** Whether the base may count for the user: only of an owner who created it or accepted that. */
  accepted_ownership: boolean;
  /** The user for whom the documents count. */
  owner: string;
  /** Empty or null for a restricted member. */
  documents: DocumentCountsAnswer | null;
  /** Empty or null for a restricted member. */
  indexing: IndexingAnswer | null;
  created_at: string;
  /** Of anything; for a restricted member, of the fields that are shown. */
  updated_at: string;
}

interface KnowledgeBaseBody {
  name: string;
  summary?: string;
  topics?: string[];
  /** All that restricted members and their models learn of the content, with the keywords. Without numbers, quotation marks and headings. */
  routing_hint?: string;
  routing_keywords?: string[];
}

interface LimitUseAnswer {
  /** Of the limit. */
  code: string;
  used: number;
  /** Null: there is no limit. */
  max: number | null;
  /** What is counted. */
  unit: string;
  /** When `used` starts again at 0; null: not at a time. */
  resets_at: string | null;
  /** Whether tokens that no model server reported are counted too, by an estimate. */
  is_estimated: boolean;
}

interface ListedModelAnswer {
  id: string;
  context_window: number | null;
  prompt_price: string | null;
  completion_price: string | null;
}

interface ListedSession {
  title: string;
  agent: string | null;
  project: string | null;
  knowledge_bases: string[];
  /** Those that the owner chose or a turn named last; may be empty. */
  models: string[];
  /** Clients show it above the others. */
  is_pinned: boolean;
  /** It is left out of the list, and found by searches. */
  is_archived: boolean;
  tags: string[];
  /** That of the session's newest event. */
  n: number;
  updated_at: string;
  /** A turn of the session is running or queued. */
  is_answering: boolean;
  /** A tool call of such a turn waits for its user: an approval, an answer or a sign-in. */
  is_waiting: boolean;
  /** A turn of the session has ended since its owner last saw it. */
  is_unread: boolean;
}

interface McpArgumentAnswer {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

interface McpCatalogAnswer {
  server: string;
  name: string;
  status: "ready" | "down" | "needs_sign_in";
  sign_in_state: "not_needed" | "needs_sign_in" | "signed_in";
  resources: McpResourceAnswer[];
  prompts: McpPromptAnswer[];
}

interface McpPromptAnswer {
  name: string;
  title: string;
  description: string;
  arguments: McpArgumentAnswer[];
}

interface McpPromptBody {
  /** Of a prompt in `mcp-catalogs/`. */
  name: string;
  /** By name. */
  arguments?: Record<string, string>;
}

interface McpRequestAnswer {
  id: string;
  server: string;
  kind: "resource" | "prompt";
  status: "waiting" | "done" | "failed";
  /** Of a prompt, once it is done. */
  text: string;
  /** Of a resource, once it is done; null as well if it was deleted. */
  file: FileAnswer | null;
  error: McpRequestErrorAnswer | null;
}

interface McpRequestErrorAnswer {
  code: string;
  /** One sentence, with the server's name. */
  message: string;
}

interface McpResourceAnswer {
  uri: string;
  name: string;
  description: string;
  /** As the server says; empty: it does not. */
  content_type: string;
  /** Bytes, as the server says. */
  size: number | null;
}

interface McpResourceBody {
  /** Of a resource in `mcp-catalogs/`. */
  uri: string;
}

interface McpServerAnswer {
  id: string;
  name: string;
  status: "ready" | "down" | "needs_sign_in";
  /** Of who asks: calls of a server that needs it wait until its user has signed in. */
  sign_in_state: "not_needed" | "needs_sign_in" | "signed_in";
  /** Those that may be chosen now. */
  tools: McpToolAnswer[];
  transport?: "stdio" | "http" | "openapi";
  command?: string[];
  url?: string;
  base_url?: string;
  env?: Record<string, string>;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  oauth_issuer?: string;
  oauth_client_id?: string;
  oauth_client_secret?: string;
  assumes_pkce?: boolean;
  sends_structured?: boolean;
  sign_in?: "user" | "shared";
  approval?: "never" | "ask" | "ask_unless_read_only";
  enabled_tools?: string[];
  is_enabled?: boolean;
  /** Why it is down, or which of its tools are left out; empty: neither. */
  problem?: string;
  /** The server's own names of tools that ask more than it says they must: it has listed weaker hints, or a new tool, since staff last saved the server or had it listed again, which confirms them. */
  unconfirmed_tools?: string[];
  /** The server's own names. */
  all_tools?: string[];
  listed_at?: string | null;
}

interface McpServerBody {
  /** Its tools are called `name__tool`: letters, digits, - and _. */
  name: string;
  transport: "stdio" | "http" | "openapi";
  /** Of stdio: the program, which MCP_COMMANDS must name, and its arguments. */
  command?: string[];
  /** Of http; of openapi that of its document. */
  url?: string;
  /** Of openapi, instead of a url: the document itself, JSON or YAML. It is not shown again. */
  document?: string;
  /** Of openapi: where the operations are, if not where the document says; headers and query are sent there alone. */
  base_url?: string;
  /** By name, the environment variable of the workers that has its value. */
  env?: Record<string, string>;
  /** By header, the environment variable of the workers that has its value. */
  headers?: Record<string, string>;
  /** Of openapi, by parameter of the query, the environment variable of the workers that has its value. */
  query?: Record<string, string>;
  /** Of http: who signs in to a server that demands it, each user, or staff for all users. */
  sign_in?: "user" | "shared";
  /** Of http: the issuer with which staff have registered a client, if it accepts no others. */
  oauth_issuer?: string;
  /** The id of that client. */
  oauth_client_id?: string;
  /** The environment variable of the workers that has the secret of that client; empty: it has none. */
  oauth_client_secret?: string;
  /** Of http: its issuer takes PKCE with S256, although its metadata does not say so. */
  assumes_pkce?: boolean;
  /** Models read the structured content of an answer as well if its text leaves some of it out. */
  sends_structured?: boolean;
  approval?: "never" | "ask" | "ask_unless_read_only";
  /** The server's own names of those that are offered; empty: all. */
  enabled_tools?: string[];
  is_enabled?: boolean;
}

interface McpSignInAnswer {
  /** To be opened in a browser in which the user is logged in here; it leads to the server's sign-in. */
  url: string;
  expires_at: string;
}

interface McpToolAnswer {
  /** As agents and chats list it. */
  name: string;
  description: string;
  /** The first sentence of the description. */
  summary: string;
  read_only: boolean;
}

interface MemberAnswer {
  id: string;
  /** The name. */
  user: string;
  role: "owner" | "editor" | "reader" | "restricted";
  /** `false`: an invitation. */
  accepted: boolean;
  /** Whether the base may count for this owner. */
  accepted_ownership: boolean;
}

interface MemberBody {
  /** The name of a user. */
  user: string;
  role: "owner" | "editor" | "reader" | "restricted";
}

interface MessageAnswer {
  id: string;
  parent: string | null;
  role: "root" | "user" | "assistant" | "summary";
  text: string;
  reasoning?: string;
  reasoning_ms?: number;
  status: "queued" | "running" | "stopping" | "waiting" | "completed" | "failed" | "stopped";
  error?: RunErrorAnswer;
  /** Of incomplete answers. */
  finish_reason?: "length" | "content_filter" | "token_limit" | "character_limit";
  /** What the model had generated when it was cut at its output limit. */
  finish_tokens?: number;
  /** Whether an answer that was cut at its output limit, stopped or broken off can be continued. */
  is_continuable?: boolean;
  model?: string;
  /** What the agent that answered was called then; absent without one. */
  agent?: string;
  run?: string;
  /** Of an answer whose text the user wrote: that of `model` which was edited; null if it is not there. */
  edited_from?: string | null;
  cursor?: CursorAnswer;
  sent_at: string;
  token_count: number;
  /** What a client sent beside this question; absent if nothing. */
  additional_context?: string;
  /** In the place of additional_context, what the model followed; absent if nothing. */
  instructions?: string;
  /** Picked with this question; absent if none was. */
  knowledge_bases?: string[];
  /** Picked with questions above this one, and searched again for it; absent if there are none. */
  earlier_knowledge_bases?: string[];
  files: MessageFileAnswer[];
  tool_calls: ToolCallAnswer[];
  citations: CitationAnswer[];
  siblings: string[];
  /** The model_index of the run of an answer. */
  column?: number;
  /** The answers in its column, oldest first. */
  attempts?: string[];
  /** The newest answers in the other columns of its turn. */
  alongside?: MessageAnswer[];
  feedback?: FeedbackAnswer;
}

interface MessageFileAnswer {
  /** Of tables that the text shows in part: their rows without the names of the columns. */
  table_rows?: number;
  /** Of these rows: the first ones, which the text has. */
  shown_rows?: number;
  id: string;
  name: string;
  kind: "text" | "image" | "tabular";
  token_count: number;
  /** Of a picture. */
  has_thumbnail?: boolean;
}

interface ModelAnswer {
  name: string;
  context_window: number;
  supports_vision: boolean;
  supports_tools: boolean;
  /** The largest limit that `options` may have. */
  max_output_tokens: number;
  /** Members of `options` that are refused. */
  unsupported_options: string[];
  /** Of the server. */
  is_default: boolean;
  /** Of the user: these answer where neither chat nor agent names models. */
  is_own_default: boolean;
  is_demo: boolean;
}

interface NamedSchema {
  name: string;
  description?: string;
  strict?: boolean | null;
  /** At most 32000 characters. */
  schema: Record<string, any>;
}

interface NewDocumentBody {
  title?: string;
  /** Plain text or Markdown. */
  text?: string;
  file?: string;
  /** Read afterwards, like a file: what does not work is the document's error. */
  url?: string;
}

interface NewSessionBody {
  title?: string;
  agent?: string | null;
  project?: string | null;
  knowledge_bases?: string[];
  tags?: string[];
  models?: string[];
  tools?: string[];
  /** Of turns that say nothing else, over the agent's; replaces all earlier ones. */
  options?: OptionsBody;
  /** In no list, and deleted for good when it is left; in no project. */
  is_temporary?: boolean;
  while_answering?: "reject" | "enqueue" | "interrupt";
  reminder?: string;
  /** Stands beside the agent's prompt or the project's instructions. */
  prompt?: string;
}

interface NewTokenAnswer {
  id: string;
  /** The token's first characters. */
  start: string;
  /** Empty: it has none. */
  name: string;
  scope: "read" | "write" | "chat" | "agent";
  created_at: string;
  expires_at: string | null;
  /** Up to five minutes ago may be missing. Null: never. */
  last_used_at: string | null;
  /** Null with the scope `agent`: it is gone. */
  agent: string | null;
  tokens_per_day: number | null;
  cost_per_day: number | null;
  /** Returned only in this response. */
  token: string;
}

interface NewTokenBody {
  /** What its user calls it. */
  name?: string;
  /** `read`: no request that changes anything. `chat`: `/agui` and the routes below `/v1/` alone. `agent`: of these, what asks one agent, and its answers. */
  scope?: "read" | "write" | "chat" | "agent";
  /** Absent or null: never. */
  expires_in_days?: number | null;
  /** With the scope `agent`: the agent. */
  agent?: string | null;
  /** Per day, UTC, of the answers that are asked for with the token: when it is reached, no more may be. Null: no limit. */
  tokens_per_day?: number | null;
  /** Per day, UTC, of the answers that are asked for with the token: when it is reached, no more may be. Null: no limit. */
  cost_per_day?: number | null;
}

interface NextCompressionAnswer {
  /** What counts as history after this answer, it included. */
  history: number;
  /** The history is summarised once it is longer. */
  limit: number;
  /** If it were summarised now, the first message to stay verbatim; null if there is nothing older. */
  keeps_from: string | null;
}

interface NodeAnswer {
  id: string;
  parent: string | null;
  role: "root" | "user" | "assistant" | "summary";
  status: "queued" | "running" | "stopping" | "waiting" | "completed" | "failed" | "stopped";
  latest_child: string | null;
  model: string | null;
  edited_from?: string | null;
  sent_at: string;
  last_summarized_message?: string | null;
}

interface OpenAIChatAnswer {
  id: string;
  /** What the answer is, as OpenAI calls it. */
  object: string;
  created: number;
  model: string;
  choices: Record<string, any>[];
  usage?: Record<string, any> | null;
}

interface OpenAIChatBody {
  model: string;
  messages: any[];
  temperature?: number | null;
  top_p?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  /** A text, or up to four. */
  stop?: any;
  seed?: number | null;
  reasoning_effort?: string | null;
  response_format?: Record<string, any> | null;
  parallel_tool_calls?: boolean | null;
  stream?: boolean | null;
  stream_options?: OpenAIStreamOptionsBody | null;
  n?: number | null;
  /** Whether the chat is listed and kept. */
  store?: boolean | null;
  /** Functions that the caller carries out. */
  tools?: any[] | null;
  /** `auto`, `none`, `required`, or a function of `tools`. */
  tool_choice?: any;
  /** Must be empty. */
  functions?: any[] | null;
  /** Must be 0. */
  frequency_penalty?: number | null;
  /** Must be 0. */
  presence_penalty?: number | null;
  logprobs?: boolean | null;
  /** Not used. */
  metadata?: any;
  /** Not used. */
  modalities?: any;
  /** Not used. */
  prompt_cache_key?: any;
  /** Not used. */
  prompt_cache_options?: any;
  /** Not used. */
  prompt_cache_retention?: any;
  /** Not used. */
  safety_identifier?: any;
  /** Not used. */
  service_tier?: any;
  /** Not used. */
  top_logprobs?: any;
  /** Not used. */
  user?: any;
  /** Not used. */
  verbosity?: any;
}

interface OpenAIConversationAnswer {
  id: string;
  /** What the answer is, as OpenAI calls it. */
  object: string;
  /** Seconds since 1970. */
  created_at: number;
  metadata: Record<string, string>;
}

interface OpenAIConversationBody {
  /** Messages with texts and files, and calls of functions with their outputs. */
  items?: any[] | null;
  metadata?: Record<string, string> | null;
}

interface OpenAIConversationChangesBody {
  metadata: Record<string, string>;
}

interface OpenAIDeletedAnswer {
  id: string;
  /** What the answer is, as OpenAI calls it. */
  object: string;
  deleted: boolean;
}

interface OpenAIErrorAnswer {
  error: OpenAIErrorMembers;
}

interface OpenAIErrorMembers {
  message: string;
  type: string;
  param: string | null;
  code: string;
}

interface OpenAIInputAnswer {
  /** What the answer is, as OpenAI calls it. */
  object: string;
  data: Record<string, any>[];
  first_id: string;
  last_id: string;
  has_more: boolean;
}

interface OpenAIInputTokensAnswer {
  /** What the answer is, as OpenAI calls it. */
  object: string;
  input_tokens: number;
}

interface OpenAIModelAnswer {
  /** The model's name, or `agent/` and the lowercase name of an agent. */
  id: string;
  /** What the answer is, as OpenAI calls it. */
  object: string;
  /** Seconds since 1970, of an agent; 0 of a model. */
  created: number;
  owned_by: string;
}

interface OpenAIModelsAnswer {
  /** What the answer is, as OpenAI calls it. */
  object: string;
  data: OpenAIModelAnswer[];
}

interface OpenAIReasoningBody {
  effort?: string | null;
  summary?: string | null;
  generate_summary?: string | null;
}

interface OpenAIResponseAnswer {
  id: string;
  /** What the answer is, as OpenAI calls it. */
  object: string;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "cancelled" | "failed";
  /** Seconds since 1970. */
  created_at: number;
  error?: Record<string, any> | null;
  incomplete_details?: Record<string, any> | null;
  instructions: string | null;
  metadata: Record<string, string>;
  model: string;
  output: Record<string, any>[];
  parallel_tool_calls: boolean;
  temperature: number;
  top_p: number;
  max_output_tokens: number | null;
  previous_response_id: string | null;
  conversation: Record<string, string>;
  reasoning: Record<string, any>;
  text: Record<string, any>;
  background: boolean;
  store: boolean;
  tool_choice?: any;
  tools?: Record<string, any>[];
  truncation?: "disabled";
  usage?: Record<string, any> | null;
}

interface OpenAIResponseBody {
  model?: string | null;
  /** A text, or messages with texts and files, and the calls of the caller's functions with their outputs; or the answers to all approvals that a response asks for. */
  input: string | any[];
  instructions?: string | null;
  previous_response_id?: string | null;
  /** Its id, or an object with it. */
  conversation?: any;
  temperature?: number | null;
  top_p?: number | null;
  max_output_tokens?: number | null;
  reasoning?: OpenAIReasoningBody | null;
  text?: OpenAITextBody | null;
  parallel_tool_calls?: boolean | null;
  metadata?: Record<string, string> | null;
  store?: boolean | null;
  stream?: boolean | null;
  background?: boolean | null;
  /** Functions that the caller carries out. */
  tools?: any[] | null;
  /** `auto`, `none`, `required`, or a function of `tools`. */
  tool_choice?: any;
  /** Not used. */
  truncation?: "auto" | "disabled" | null;
  /** Not used. */
  include?: any;
  /** Not used. */
  max_tool_calls?: any;
  /** Not used. */
  client_metadata?: any;
  /** Not used. */
  prompt_cache_key?: any;
  /** Not used. */
  prompt_cache_options?: any;
  /** Not used. */
  prompt_cache_retention?: any;
  /** Not used. */
  safety_identifier?: any;
  /** Not used. */
  service_tier?: any;
  /** Not used. */
  stream_options?: any;
  /** Not used. */
  top_logprobs?: any;
  /** Not used. */
  user?: any;
}

interface OpenAISocketErrorMembers {
  message: string;
  type: string;
  param: string | null;
  code: string;
  /** That an answer over HTTP would have. */
  headers?: Record<string, string>;
}

interface OpenAIStreamOptionsBody {
  include_usage?: boolean;
  /** Not used. */
  include_obfuscation?: any;
}

interface OpenAITextBody {
  /** `type`, and with `json_schema` also `name` and `schema`. */
  format?: Record<string, any> | null;
  /** Not used. */
  verbosity?: string | null;
}

interface OpenApprovalAnswer {
  kind: "approval" | "question" | "address" | "sign_in";
  tool_call: string;
  run: string;
  session: string;
  name: string;
  arguments: Record<string, any>;
  requested_at: string;
  expires_at: string;
  question?: QuestionAnswer;
  sign_in?: OpenSignInAnswer;
  address?: AddressQuestionAnswer;
  /** Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known. */
  changed?: "server" | "address" | "definition";
  /** The first sentence of its tool's description, in the words of whoever wrote the tool. */
  summary?: string;
}

interface OpenSignInAnswer {
  /** `POST mcp-servers/{server}/sign-in/` begins to sign in to it; null: it was deleted. */
  server: string | null;
  /** The server's. */
  name: string;
  /** Whether the call had a sign-in, which has expired, or does not have enough rights. */
  again: boolean;
  /** The page of the user's sign-ins, to be opened in a browser. */
  url: string;
}

interface OptionsBody {
  temperature?: number | null;
  top_p?: number | null;
  max_output_tokens?: number | null;
  stop?: string[] | null;
  seed?: number | null;
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null;
  response_format?: ResponseFormat | null;
  parallel_tool_calls?: boolean | null;
}

interface OwnTokenAnswer {
  id: string;
  /** The token's first characters. */
  start: string;
  /** Empty: it has none. */
  name: string;
  scope: "read" | "write" | "chat" | "agent";
  created_at: string;
  expires_at: string | null;
  /** Up to five minutes ago may be missing. Null: never. */
  last_used_at: string | null;
  /** Null with the scope `agent`: it is gone. */
  agent: string | null;
  tokens_per_day: number | null;
  cost_per_day: number | null;
}

interface PacketsAnswer {
  attempt: number;
  complete: boolean;
  packets: Record<string, any>[];
}

interface Page {
  next: string | null;
  previous: string | null;
}

interface PassageAnswer {
  start: number;
  length: number;
}

interface PasswordBody {
  old_password: string;
  new_password: string;
  /** Delete all API tokens of the user, that of the request too. */
  end_tokens?: boolean;
}

interface PreferencesAnswer {
  /** Part of the system prompt of all of the user's chats. */
  instructions: string;
  /** False: they are kept, but not sent. */
  uses_instructions: boolean;
  /** What the text takes of each request, in the default encoding. */
  instruction_tokens: number;
  /** They answer where neither chat nor agent names models; of these, those that are still offered. */
  models: string[];
}

interface PreferencesBody {
  instructions?: string;
  uses_instructions?: boolean;
  models?: string[];
}

interface ProjectAnswer {
  id: string;
  name: string;
  instructions: string;
  files: FileAnswer[];
  /** Of all texts that can be read. */
  token_count: number;
  /** By model: whether its requests contain all these texts, in a chat without agent and tools. Otherwise it searches them, if it has tools. Each run decides again, by what else its request contains. */
  fits: Record<string, boolean>;
  indexing: IndexingAnswer;
  created_at: string;
  updated_at: string;
}

interface ProjectBody {
  name: string;
  instructions?: string;
  files?: string[];
}

interface ProjectFileBody {
  file: string;
}

interface ProviderAnswer {
  /** Null: the server of LLM_BASE_URL. */
  id: string | null;
  name: string;
  base_url: string;
  /** Set where Turnwire is started; cannot be changed. */
  is_environment: boolean;
  is_enabled: boolean;
  /** Null: web does not know. */
  has_key: boolean | null;
  created_by: string | null;
  created_at: string | null;
  models: ProviderModelAnswer[];
  latest_check: ProviderCheckAnswer | null;
}

interface ProviderBody {
  name: string;
  /** It usually ends in /v1. */
  base_url: string;
  /** Stored encrypted, and never answered. Empty: the server is sent none. Another server than before needs it again. */
  api_key?: string;
  is_enabled?: boolean;
}

interface ProviderCheckAnswer {
  status: "queued" | "done";
  requested_at: string;
  finished_at: string | null;
  /** Why there is no list of models. */
  error: CheckErrorAnswer | null;
  models: ListedModelAnswer[];
  /** The one that is tried. */
  model: string | null;
  /** Why it did not answer. */
  test_error: CheckErrorAnswer | null;
  /** Until it had answered with a token. */
  latency_ms: number | null;
}

interface ProviderCheckBody {
  /** As the server calls it. Left out: one that is enabled is tried, if there is one. */
  model?: string;
}

interface ProviderModelAnswer {
  name: string;
  upstream_name: string;
  enabled: boolean;
  is_default: boolean;
  context_window: number;
  supports_vision: boolean;
  supports_tools: boolean;
  prompt_price: string | null;
  cached_price: string | null;
  completion_price: string | null;
}

interface ProviderModelBody {
  /** As the server calls it. */
  upstream_name: string;
  /** As people see it, once among all models. Left out: chosen. */
  name?: string;
  enabled?: boolean;
  context_window?: number;
  supports_vision?: boolean;
  supports_tools?: boolean;
  /** Per million tokens; null: unknown. */
  prompt_price?: string | null;
  /** Per million tokens; null: unknown. */
  cached_price?: string | null;
  /** Per million tokens; null: unknown. */
  completion_price?: string | null;
}

interface ProviderModelsBody {
  /** A provider has at most 500. */
  models: ProviderModelBody[];
}

interface ProvidersAnswer {
  /** Whether SECRETS_KEYS is set. */
  can_store_keys: boolean;
  results: ProviderAnswer[];
}

interface QuestionAnswer {
  message: string;
  /** A JSON Schema of an object with primitive properties, as elicitation in the Model Context Protocol. */
  form: Record<string, any>;
}

interface RefusedConversation {
  title: string;
  /** Its name in the zip; empty: a JSON file was sent. */
  file: string;
  /** In the file, from 1. */
  line: number;
  /** The path of the member in the file. */
  field: string;
  code: string;
  message: string;
}

interface RegenerationBody {
  models?: string[];
  replace?: ReplacedBody;
  options?: OptionsBody | null;
}

interface ReplacedBody {
  run: string;
}

interface ResponseFormat {
  type: "text" | "json_object" | "json_schema";
  json_schema?: NamedSchema;
}

interface RoleBody {
  role: "owner" | "editor" | "reader" | "restricted";
}

interface RunAnswer {
  id: string;
  turn: string;
  /** Of the request that started the turn; may be empty. */
  request_id: string;
  message: string;
  model: string;
  model_index: number;
  status: "queued" | "running" | "stopping" | "waiting" | "completed" | "failed" | "stopped";
  attempt: number;
  failures: number;
  /** How often the user let it go on after it was cut. */
  continuations: number;
  owner: string | null;
  error?: RunErrorAnswer;
  upstream_error?: UpstreamErrorAnswer;
  usage: UsageAnswer;
  cost: number | null;
  time_to_first_token_ms: number | null;
  reasoning_ms: number | null;
  cycles: number;
  /** What held, those of the session included. */
  options: Record<string, any>;
  /** Of the last inference, as the model server reported it. */
  finish_reason: string;
  finish_tokens: number | null;
  /** As it was called when it answered. */
  agent: AnsweringAgentAnswer | null;
  /** Digest of the prompts and tools it was answered with; null until text is saved. */
  version: string | null;
  /** Of its latest request; null if it sent none, or is imported. */
  context: ContextAnswer | null;
  created_at: string;
  queued_at: string;
  claimed_at: string | null;
  beat_at: string | null;
  lease_until: string | null;
  deadline: string;
  ended_at: string | null;
  announced_at: string | null;
}

interface RunContinued {
  turn: string;
  run: string;
  message: string;
  /** The first that belongs to the continuation. */
  attempt: number;
}

interface RunErrorAnswer {
  /** `context_too_long`, `prompt_too_long`, `tools_too_long`, `empty_response`, `output_limit_reached`, `model_refusal`, `model_not_configured`, `tool_unknown`, `tool_not_configured`, `option_unsupported`, `upstream_option_rejected`, `upstream_auth`, `upstream_quota`, `model_not_found`, `content_filtered`, `upstream_rejected`, `upstream_rate_limited`, `upstream_unavailable`, `upstream_unreachable`, `upstream_timeout`, `upstream_interrupted`, `upstream_malformed`, `run_limit_reached`, `deadline_exceeded`, `worker_lost`, `internal_error`. Of an imported answer, whatever its file says. */
  code: string;
  message: string;
  retryable: boolean;
}

interface SavedPromptAnswer {
  id: string;
  name: string;
  text: string;
  created_at: string;
  updated_at: string;
}

interface SavedPromptBody {
  name: string;
  text: string;
}

interface SeenBody {
  n?: number;
}

interface SessionAnswer {
  title: string;
  agent: string | null;
  project: string | null;
  knowledge_bases: string[];
  /** Those that the owner chose or a turn named last; may be empty. */
  models: string[];
  /** Clients show it above the others. */
  is_pinned: boolean;
  /** It is left out of the list, and found by searches. */
  is_archived: boolean;
  tags: string[];
  /** That of the session's newest event. */
  n: number;
  updated_at: string;
  /** A turn of the session is running or queued. */
  is_answering: boolean;
  /** A tool call of such a turn waits for its user: an approval, an answer or a sign-in. */
  is_waiting: boolean;
  /** A turn of the session has ended since its owner last saw it. */
  is_unread: boolean;
  while_answering: "reject" | "enqueue" | "interrupt";
  tools: string[];
  reminder: string;
  /** Stands beside the agent's prompt or the project's instructions. */
  prompt: string;
  /** As they were sent. */
  options: Record<string, any>;
  id: string;
  /** Whether there are options or a prompt. */
  has_options: boolean;
  /** Of one that is in no list. */
  is_temporary: boolean;
  root: string;
  leaf: string;
  /** The text around the match. */
  match?: string | null;
  /** The first message that matches, on any branch. */
  match_message?: string | null;
  created_at: string;
}

interface SessionBody {
  title?: string;
  agent?: string | null;
  project?: string | null;
  knowledge_bases?: string[];
  tags?: string[];
  models?: string[];
  tools?: string[];
  /** Of turns that say nothing else, over the agent's; replaces all earlier ones. */
  options?: OptionsBody;
  while_answering?: "reject" | "enqueue" | "interrupt";
  reminder?: string;
  /** Stands beside the agent's prompt or the project's instructions. */
  prompt?: string;
}

interface SessionChangesBody {
  title?: string;
  agent?: string | null;
  project?: string | null;
  knowledge_bases?: string[];
  tags?: string[];
  models?: string[];
  tools?: string[];
  /** Of turns that say nothing else, over the agent's; replaces all earlier ones. */
  options?: OptionsBody;
  is_pinned?: boolean;
  is_archived?: boolean;
  /** `false`: keep a temporary session. */
  is_temporary?: false;
  while_answering?: "reject" | "enqueue" | "interrupt";
  reminder?: string;
  /** Stands beside the agent's prompt or the project's instructions. */
  prompt?: string;
}

interface SessionMembers {
  title: string;
  agent: string | null;
  project: string | null;
  knowledge_bases: string[];
  /** Those that the owner chose or a turn named last; may be empty. */
  models: string[];
  /** Clients show it above the others. */
  is_pinned: boolean;
  /** It is left out of the list, and found by searches. */
  is_archived: boolean;
  tags: string[];
}

interface SessionPage {
  next: string | null;
  previous: string | null;
  results: SessionAnswer[];
}

interface ShareAnswer {
  id: string;
  session: string;
  leaf: string;
  url: string | null;
  is_current: boolean;
  shows_details: boolean;
  created_at: string;
  /** Null: no end. An expired link is not found until it gets another. */
  expires_at: string | null;
}

interface ShareBody {
  leaf?: string;
  shows_details?: boolean;
  /** From now. Null: no end, as a new link has without it; a change without it keeps the end. */
  expires_in_days?: number | null;
}

interface SharedCallAnswer {
  name: string;
  status: "pending" | "waiting" | "running" | "completed" | "failed" | "refused" | "unknown";
  /** Empty if they are very long. */
  arguments: Record<string, any>;
  response: string;
  /** Whether there is more of the arguments or the response. */
  is_shortened?: boolean;
}

interface SharedCitationAnswer {
  number: number;
  title: string;
  url: string;
}

interface SharedMessageAnswer {
  role: "root" | "user" | "assistant" | "summary";
  text: string;
  sent_at: string;
  files: string[];
  citations: SharedCitationAnswer[];
  model?: string;
  /** True: the owner of the chat wrote the text, after that of the model. */
  is_edited?: boolean;
  error?: string;
  finish_reason?: "length" | "content_filter" | "token_limit" | "character_limit";
  finish_tokens?: number;
  /** Only if the owner shows details. */
  reasoning?: string;
  /** Only if the owner shows details. */
  tool_calls?: SharedCallAnswer[];
  /** Whether there are more than are listed. */
  has_more_tool_calls?: boolean;
}

interface SharedPageAnswer {
  title: string;
  shared_at: string;
  messages: SharedMessageAnswer[];
  /** The number of the next page. */
  next: number | null;
}

interface SignInQuestionAnswer {
  /** `POST mcp-servers/{server}/sign-in/` begins to sign in to it; null: it was deleted. */
  server: string | null;
  /** The server's. */
  name: string;
  /** Whether the call had a sign-in, which has expired, or does not have enough rights. */
  again: boolean;
}

interface SourceAnswer {
  number: number;
  document_id: string;
  title: string;
  url?: string;
  /** The beginning of the document's text, or of the passage. */
  snippet?: string;
  /** Where a search found it in the document's text. Each passage has a number of its own. */
  passage?: PassageAnswer;
  /** The one that the document belongs to. */
  knowledge_base?: string;
}

interface StartedAnswer {
  turn: string;
  user_message: string;
  runs: StartedRunAnswer[];
}

interface StartedRunAnswer {
  id: string;
  message: string;
  model: string;
  model_index: number;
}

interface StatusAnswer {
  status: "queued" | "running" | "stopping" | "waiting" | "completed" | "failed" | "stopped";
}

interface SummaryAnswer {
  id: string;
  parent: string;
  last_summarized_message: string;
  text: string;
  token_count: number;
  saved_tokens: number | null;
  model: string | null;
  sent_at: string;
}

interface SystemPromptBody {
  text: string;
}

interface TagAnswer {
  name: string;
  /** How many have it, those in the trash left out. */
  sessions: number;
}

interface TagBody {
  /** Its name now, however it is capitalised. */
  tag: string;
  name: string;
}

interface TextBody {
  /** At most 100000 characters; a longer one is answered 413, with its `size`. */
  text: string;
}

interface TitleBody {
  title: string;
}

interface TokenAnswer {
  token: string;
}

interface TokenUsedAnswer {
  day: string;
  /** The id of the API token. */
  token: string;
  /** Answers that were asked for with it. */
  runs: number;
  tokens: number;
  /** Of models with prices. */
  cost: number;
}

interface ToolCallAnswer {
  id: string;
  tool_call_id: string;
  name: string;
  arguments: Record<string, any>;
  response: string;
  status: "pending" | "waiting" | "running" | "completed" | "failed" | "refused" | "unknown";
  turn_number: number;
  tab_index: number;
  /** What the model asked for, if the user edited the arguments. */
  asked_arguments?: Record<string, any>;
  documents?: SourceAnswer[];
  /** The response as JSON, of tools that have it. */
  structured?: Record<string, any>;
  /** That the tool returned. */
  images?: ToolImageAnswer[];
  text_before?: string;
  reasoning?: string;
  reasoning_ms?: number;
  /** How long the call ran, where known. */
  duration_ms?: number;
  /** What the call asks the user, while it waits. */
  question?: QuestionAnswer;
  /** What the user has to sign in to, while the call waits for that. */
  sign_in?: SignInQuestionAnswer;
  /** Where the user has to go, while the call waits for that. */
  address?: AddressQuestionAnswer;
  /** Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known. */
  changed?: "server" | "address" | "definition";
  /** The first sentence of its tool's description, in the words of whoever wrote the tool. */
  summary?: string;
  /** Those made inside it. */
  children: ToolCallAnswer[];
}

interface ToolCard {
  name: string;
  label: string;
  /** A sentence for those who choose it. */
  about?: string;
  /** Its name in elements/icons.js. */
  icon: string;
  doing: string[];
  done: string[];
  /** Without a claim that anything was done. */
  failed: string[];
  /** Of calls whose `done` differs; empty: that of a call without arguments. */
  several?: string;
  /** The arguments beside it; empty: the title of the first document it found. */
  shows?: string[];
  /** text: verbatim, or documents. search: documents, a checked summary, and a note while they are indexed. report: Markdown. form: what the user answered. */
  result?: "form" | "report" | "search" | "text";
  /** False: a run is offered it by the files and bases that it has. */
  is_choosable?: boolean;
  /** The setting that it works with; empty: it always works. */
  needs?: string;
}

interface ToolImageAnswer {
  /** Of a file: `files/{id}/content/` has the image, `files/{id}/thumbnail/` a small copy. */
  id: string;
  name: string;
  width: number;
  height: number;
}

interface TrashPage {
  next: string | null;
  previous: string | null;
  results: TrashedSessionAnswer[];
}

interface TrashedSessionAnswer {
  title: string;
  agent: string | null;
  project: string | null;
  knowledge_bases: string[];
  /** Those that the owner chose or a turn named last; may be empty. */
  models: string[];
  /** Clients show it above the others. */
  is_pinned: boolean;
  /** It is left out of the list, and found by searches. */
  is_archived: boolean;
  tags: string[];
  /** That of the session's newest event. */
  n: number;
  updated_at: string;
  /** A turn of the session is running or queued. */
  is_answering: boolean;
  /** A tool call of such a turn waits for its user: an approval, an answer or a sign-in. */
  is_waiting: boolean;
  /** A turn of the session has ended since its owner last saw it. */
  is_unread: boolean;
  while_answering: "reject" | "enqueue" | "interrupt";
  tools: string[];
  reminder: string;
  /** Stands beside the agent's prompt or the project's instructions. */
  prompt: string;
  /** As they were sent. */
  options: Record<string, any>;
  id: string;
  /** Whether there are options or a prompt. */
  has_options: boolean;
  /** Of one that is in no list. */
  is_temporary: boolean;
  root: string;
  leaf: string;
  /** The text around the match. */
  match?: string | null;
  /** The first message that matches, on any branch. */
  match_message?: string | null;
  created_at: string;
  deleted_at: string;
  /** When it is deleted for good. */
  purge_at: string;
  /** Messages that were deleted from another session. */
  is_part: boolean;
}

interface TurnBody {
  /** Has visible characters, unless files are sent. At most 100000 characters; a longer one is answered 413, with its `size`. */
  text: string;
  /** Default: the tip of the current branch. Null: the root. */
  parent?: string | null;
  models?: string[];
  files?: string[];
  forced_tool?: string | null;
  client_message_id?: string | null;
  additional_context?: string | null;
  /** Like `additional_context`, but the model follows it. Not both. */
  instructions?: string | null;
  /** If any is named, they alone are searched for this question. */
  knowledge_bases?: string[] | null;
  options?: OptionsBody | null;
}

interface UpstreamErrorAnswer {
  /** The HTTP status; null without a response. */
  status: number | null;
  /** The server's own code or type; for staff. */
  code?: string;
  /** What the server said, without secrets; for staff. */
  message?: string;
}

interface UsageAnswer {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cached_tokens: number | null;
  reasoning_tokens: number | null;
  /** Of the prompt and completion tokens, those that the server did not report. */
  estimated_tokens: number | null;
}

interface UsedAnswer {
  day: string;
  model: string;
  purpose: "answers" | "expansions" | "safe_summaries" | "summaries" | "titles";
  /** Answers; 0 of other purposes. */
  runs: number;
  /** To the model. */
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** Of the prompt and completion tokens, those that the server did not report. */
  estimated_tokens: number;
  cost: number | null;
}

interface WebhookAnswer {
  id: string;
  url: string;
  /** Becomes false when it answers with 410, or when 20 events in a row were given up after a day. */
  is_enabled: boolean;
  /** Null: it was told nothing yet. */
  last_attempt_at: string | null;
  /** The status of its latest answer; null: there was none. */
  last_status: number | null;
  /** Why there was no answer, such as `timeout` or `url_address_blocked`. */
  last_error: string;
  /** Attempts in a row that have failed. */
  failures: number;
  created_at: string;
  updated_at: string;
}

interface WebhookBody {
  /** Is sent a POST for each answer that has ended, or asks for approvals. It leads to a public server. */
  url: string;
  is_enabled?: boolean;
}

interface WebhookSecretAnswer {
  id: string;
  url: string;
  /** Becomes false when it answers with 410, or when 20 events in a row were given up after a day. */
  is_enabled: boolean;
  /** Null: it was told nothing yet. */
  last_attempt_at: string | null;
  /** The status of its latest answer; null: there was none. */
  last_status: number | null;
  /** Why there was no answer, such as `timeout` or `url_address_blocked`. */
  last_error: string;
  /** Attempts in a row that have failed. */
  failures: number;
  created_at: string;
  updated_at: string;
  /** With which events are signed. Returned only in this response. */
  secret: string;
}

/** The commands and frames of the socket, and the packets in frames. */
declare namespace wire {

  interface Accepted {
    type: "accepted";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
    turn?: string;
    user_message?: string;
    runs?: StartedRunAnswer[];
    run?: string;
    message?: string;
    attempt?: number;
    tool_call?: string;
    decision?: "approved" | "refused" | "answered" | "declined" | "signed_in";
    /** In the reply to compress, queued or nothing_to_compress; in the reply to continue, that of the run. */
    status?: string;
  }

  interface ApprovalRequired {
    type: "approval_required";
    tool_call_id: string;
    tool_call: string;
    name: string;
    arguments: Record<string, any>;
    /** What the call asks its user. */
    question?: QuestionAnswer;
    /** What the user has to sign in to, after which the call goes on by itself. */
    sign_in?: SignInQuestionAnswer;
    /** Where the user has to go, which they answer by approving when they are done. */
    address?: AddressQuestionAnswer;
    /** Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known. */
    changed?: "server" | "address" | "definition";
    /** The first sentence of its tool's description, in the words of whoever wrote the tool. */
    summary?: string;
  }

  interface ApproveCommand {
    type: "approve";
    /** Of a question: whether it is answered; false: declined. Of an address: that the user is done there. Of a sign-in: true asks whether there is one now, which lets the call go on by itself as soon as there is; false: goes on without. */
    approved: boolean;
    /** With a refusal or an answer, the model reads it. */
    note?: string;
    /** The answer to a question, by the names of its form, which it has to fit. At most 100000 characters. */
    values?: Record<string, any>;
    /** Instead of those that the model wants; they have to match the tool's schema. At most 100000 characters. */
    arguments?: Record<string, any>;
    /** Later calls of the tool in this session are not asked about. Not of questions. */
    remember?: "session";
    tool_call: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface CitationInfo {
    type: "citation_info";
    number: number;
    document_id: string;
    title: string;
    url?: string;
  }

  interface CompressCommand {
    type: "compress";
    session: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface CompressionFrame {
    type: "compression";
    session: string;
    n: number;
    status: "started" | "done" | "failed" | "deleted";
    tokens_before?: number;
    tokens_after?: number;
  }

  interface ContinueCommand {
    type: "continue";
    run: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface Error {
    type: "error";
    /** One of these, or whatever the file of an imported answer says. */
    code: string;
    message: string;
    retryable: boolean;
  }

  type ErrorCode = "bad_request" | "not_authenticated" | "permission_denied" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "unavailable" | "invalid_json" | "json_too_deep" | "invalid_encoding" | "invalid_characters" | "invalid_type" | "invalid_value" | "invalid_id" | "invalid_pagination" | "invalid_cursor" | "unknown_type" | "unsupported_frame" | "unknown_field" | "field_required" | "headers_too_large" | "too_many_connections" | "too_many_uploads" | "invalid_credentials" | "token_read_only" | "token_out_of_scope" | "csrf_failed" | "login_busy" | "session_not_found" | "temporary_session" | "message_not_found" | "parent_not_found" | "turn_not_found" | "run_not_found" | "tool_call_not_found" | "file_not_found" | "file_empty" | "file_too_large" | "file_type_mismatch" | "too_many_files" | "too_many_waiting_files" | "file_storage_unavailable" | "invalid_multipart" | "invalid_range" | "file_processing" | "attachments_too_large" | "file_failed" | "token_not_found" | "tag_not_found" | "share_not_found" | "agent_not_found" | "prompt_not_found" | "webhook_not_found" | "provider_not_found" | "project_not_found" | "knowledge_base_not_found" | "document_not_found" | "member_not_found" | "user_not_found" | "not_allowed" | "already_member" | "too_many_invitations" | "too_many_shared_agents" | "last_owner" | "owner_without_room" | "mcp_server_not_found" | "mcp_server_name_taken" | "mcp_command_refused" | "mcp_url_refused" | "mcp_variable_refused" | "mcp_server_without_sign_in" | "mcp_resource_not_found" | "mcp_prompt_not_found" | "mcp_request_not_found" | "mcp_server_unavailable" | "mcp_server_refused" | "mcp_sign_in_needed" | "not_signed_in" | "too_many_mcp_servers" | "encryption_unavailable" | "provider_address_invalid" | "provider_key_required" | "provider_name_taken" | "model_name_taken" | "too_many_providers" | "too_many_models" | "too_many_sessions" | "too_many_projects" | "too_many_agents" | "too_many_tags" | "too_many_prompts" | "too_many_webhooks" | "too_many_tokens" | "too_many_knowledge_bases" | "too_many_documents" | "too_many_chunks" | "storage_full" | "too_many_sockets" | "too_many_answers" | "message_empty" | "message_too_long" | "models_invalid" | "option_unsupported" | "tool_unknown" | "tool_not_configured" | "role_order" | "session_not_empty" | "parent_in_progress" | "answer_in_progress" | "turn_in_progress" | "not_continuable" | "run_limit_reached" | "not_waiting" | "already_decided" | "tool_unavailable" | "arguments_invalid" | "answer_invalid" | "idempotency_mismatch" | "too_many_runs" | "daily_limit_reached" | "too_many_shares" | "queue_full" | "stream_unavailable";

  interface ErrorFrame {
    type: "error";
    code: ErrorCode;
    message: string;
    /** What of the request is wrong, as a path of names. */
    field?: string;
    /** What a limit is called, or how much it allows. Of `body_too_large`, bytes or values; of `message_too_long`, characters; of `daily_limit_reached`, its code in `usage/limits/`; of attachments, the tokens that fit; of `file_too_large`, bytes. */
    limit?: string | number;
    /** Of `message_too_long`: the text's characters; of `invalid_range`: the file's bytes. */
    size?: number;
    /** Of a quota: what may be kept; of a daily limit: what may be used. */
    max?: number | null;
    /** Of a daily limit: what is used. */
    used?: number;
    /** Of a daily limit: when it starts again at 0. */
    resets_at?: string | null;
    /** Of `attachments_too_large`: the model that they do not fit. */
    model?: string;
    /** Of `attachments_too_large`: their tokens. */
    token_count?: number;
    /** The file that cannot be used. */
    file?: string;
    /** Of `file_type_mismatch`: what the content is. */
    content_type?: string;
    /** Of `file_failed`: why the file could not be read. */
    error?: string;
    /** Of `invalid_json` in an export of another product: the line, from 1. */
    line?: number;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface FileFrame {
    type: "file";
    /** Pages that are pictures without text; all but the first of a TIFF. */
    unread_pages?: number;
    /** Of these pages: the first ones, which models that see are shown as pictures. */
    shown_pages?: number;
    /** Of tables that the text shows in part: their rows without the names of the columns. */
    table_rows?: number;
    /** Of these rows: the first ones, which the text has. */
    shown_rows?: number;
    id: string;
    name: string;
    content_type: string;
    /** Bytes of the content; of a picture once it is ready, without metadata. */
    size: number;
    status: "processing" | "ready" | "failed";
    /** Of the extracted text, in cl100k_base; of a picture, what models that see it are charged. */
    token_count: number;
    kind: "text" | "image" | "tabular";
    project: string | null;
    created_at: string;
    /** Of a picture that is ready, in pixels. */
    width?: number;
    height?: number;
    /** Of a picture. */
    has_thumbnail?: boolean;
    /** Once it is ready: by model, whether it fits into a request, counted in the model's own encoding if that is known. */
    fits?: Record<string, boolean>;
    error?: FileErrorAnswer;
  }

  interface Heartbeat {
    type: "heartbeat";
    run: string;
  }

  interface KnowledgeBaseChanged {
    type: "knowledge_base_changed";
    knowledge_base: string;
  }

  interface KnowledgeBaseDeleted {
    type: "knowledge_base_deleted";
    knowledge_base: string;
  }

  interface MessageDelta {
    type: "message_delta";
    text: string;
  }

  interface MessageStart {
    type: "message_start";
    documents?: SourceAnswer[];
  }

  interface ModelsChanged {
    type: "models_changed";
  }

  interface OverallStop {
    type: "overall_stop";
    session: string;
    n: number;
    turn: string;
    stop_reason: StopReason;
  }

  interface Packet {
    type: "packet";
    session: string;
    run: string;
    attempt: number;
    seq: number;
    placement: Placement;
    obj: RunStart | ReasoningStart | ReasoningDelta | ReasoningDone | MessageStart | MessageDelta | CitationInfo | TopLevelBranching | ToolStart | ToolArgumentsDelta | ToolArguments | ToolProgress | ToolOutput | SectionEnd | ReportStart | ReportDelta | ApprovalRequired | Error | Stop;
  }

  interface PingCommand {
    type: "ping";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface Placement {
    /** The UI block; increases with every reasoning block, tool round and answer block. */
    turn_index: number;
    /** Which of the parallel calls of one round. */
    tab_index: number;
    /** The block inside an agent tool. */
    sub_turn_index: number | null;
    model_index: number;
  }

  interface Pong {
    type: "pong";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface ProjectChanged {
    type: "project_changed";
    project: string;
  }

  interface ProjectDeleted {
    type: "project_deleted";
    project: string;
  }

  interface Queued {
    type: "queued";
    run: string;
    /** From 1; null: it waits no longer, and nothing else was sent since. */
    position: number | null;
  }

  interface ReasoningDelta {
    type: "reasoning_delta";
    text: string;
  }

  interface ReasoningDone {
    type: "reasoning_done";
    /** From the first word of it to the last; left out where nobody has measured it. */
    duration_ms?: number;
  }

  interface ReasoningStart {
    type: "reasoning_start";
  }

  interface ReportDelta {
    type: "report_delta";
    text: string;
  }

  interface ReportStart {
    type: "report_start";
  }

  interface Reset {
    type: "reset";
    run: string;
    attempt: number;
    reason: string;
  }

  interface Resync {
    type: "resync";
    session: string;
    n: number;
  }

  interface RunContinuedFrame {
    type: "run_continued";
    turn: string;
    run: string;
    message: string;
    /** The first that belongs to the continuation. */
    attempt: number;
    session: string;
    n: number;
  }

  interface RunStart {
    type: "run_start";
    model: string;
  }

  interface SectionEnd {
    type: "section_end";
    tool_call_id?: string;
    /** How the call ended; left out if it completed, and for blocks that are not calls. `pending`: the program that asked carries it out. */
    status?: "failed" | "refused" | "unknown" | "pending";
    /** How long the call ran, where known. */
    duration_ms?: number;
  }

  interface SendCommand {
    type: "send";
    /** Has visible characters, unless files are sent. At most 100000 characters; a longer one is answered 413, with its `size`. */
    text: string;
    /** Default: the tip of the current branch. Null: the root. */
    parent?: string | null;
    models?: string[];
    files?: string[];
    forced_tool?: string | null;
    client_message_id?: string | null;
    additional_context?: string | null;
    /** Like `additional_context`, but the model follows it. Not both. */
    instructions?: string | null;
    /** If any is named, they alone are searched for this question. */
    knowledge_bases?: string[] | null;
    options?: OptionsBody | null;
    session: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface SessionChanged {
    type: "session_changed";
    title: string;
    agent: string | null;
    project: string | null;
    knowledge_bases: string[];
    /** Those that the owner chose or a turn named last; may be empty. */
    models: string[];
    /** Clients show it above the others. */
    is_pinned: boolean;
    /** It is left out of the list, and found by searches. */
    is_archived: boolean;
    tags: string[];
    /** That of the session's newest event. */
    n: number;
    updated_at: string;
    /** A turn of the session is running or queued. */
    is_answering: boolean;
    /** A tool call of such a turn waits for its user: an approval, an answer or a sign-in. */
    is_waiting: boolean;
    /** A turn of the session has ended since its owner last saw it. */
    is_unread: boolean;
    session: string;
  }

  interface SessionDeleted {
    type: "session_deleted";
    session: string;
  }

  interface SessionFrame {
    type: "session";
    title?: string;
    agent?: string | null;
    project?: string | null;
    knowledge_bases?: string[];
    /** Those that the owner chose or a turn named last; may be empty. */
    models?: string[];
    /** Clients show it above the others. */
    is_pinned?: boolean;
    /** It is left out of the list, and found by searches. */
    is_archived?: boolean;
    tags?: string[];
    /** It has run options or a prompt; read them by REST. */
    has_options?: boolean;
    /** Of a temporary session, whose changes session_changed does not tell; false also once it is kept. */
    is_temporary?: boolean;
    /** The tip of the current branch. */
    leaf?: string | null;
    session: string;
    n: number;
    while_answering?: "reject" | "enqueue" | "interrupt";
    tools?: string[];
  }

  interface SessionsResync {
    type: "sessions_resync";
  }

  interface SessionsWatched {
    type: "sessions_watched";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface Snapshot {
    type: "snapshot";
    run: string;
    attempt: number;
    seq: number;
    message: MessageAnswer;
  }

  type Status = "queued" | "running" | "stopping" | "waiting" | "completed" | "failed" | "stopped";

  interface Stop {
    type: "stop";
    stop_reason: StopReason;
    /** Only if the answer is incomplete: why. */
    finish_reason?: "length" | "content_filter" | "token_limit" | "character_limit";
    /** What the model had generated when it was cut at its output limit. */
    finish_tokens?: number;
  }

  interface StopCommand {
    type: "stop";
    run?: string;
    turn?: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  type StopReason = "finished" | "user_cancelled" | "error";

  interface Stopping {
    type: "stopping";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
    run?: string;
    turn?: string;
    status?: Status;
  }

  interface SubscribeCommand {
    type: "subscribe";
    session: string;
    /** The n of the latest session event that the client has. */
    since?: number | null;
    /** By run, the latest packet that the client has. */
    cursors?: Record<string, { attempt: number; seq: number; }> | null;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface Subscribed {
    type: "subscribed";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
    session: string;
    n: number;
    runs: SubscribedRun[];
  }

  interface SubscribedRun {
    run: string;
    turn: string;
    message: string;
    model: string;
    model_index: number;
    status: Status;
    attempt: number;
    seq: number;
  }

  interface TagChanged {
    type: "tag_changed";
    /** However it is capitalised. */
    tag: string;
    /** Null: it was removed. */
    name: string | null;
  }

  interface ToolArguments {
    type: "tool_arguments";
    tool_call_id: string;
    arguments: Record<string, any>;
    /** Set if the arguments are too long for a packet and omitted. Names the tool call that has them. */
    ref?: string;
  }

  interface ToolArgumentsDelta {
    type: "tool_arguments_delta";
    tool_call_id: string;
    text: string;
  }

  interface ToolOutput {
    type: "tool_output";
    tool_call_id: string;
    output?: string;
    documents?: SourceAnswer[];
    truncated?: boolean;
    ref?: string;
    /** That the tool returned. */
    images?: ToolImageAnswer[];
  }

  interface ToolProgress {
    type: "tool_progress";
    tool_call_id: string;
    done: number;
    /** In the unit of done; left out if it is not known. */
    total?: number;
    /** What the call does now; at most 200 characters. */
    text?: string;
  }

  interface ToolStart {
    type: "tool_start";
    tool_call_id: string;
    name: string;
  }

  interface TopLevelBranching {
    type: "top_level_branching";
    count: number;
  }

  interface TurnStarted {
    type: "turn_started";
    turn: string;
    user_message: string;
    runs: StartedRunAnswer[];
    session: string;
    n: number;
  }

  interface UnsubscribeCommand {
    type: "unsubscribe";
    session: string;
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  interface Unsubscribed {
    type: "unsubscribed";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
    session: string;
  }

  interface WatchSessionsCommand {
    type: "watch_sessions";
    /** The command's, which its reply echoes. */
    id?: string | number | null;
    /** Of the command, in logs of all processes and in the admin: the client's, or a new one. */
    request_id?: string;
  }

  type Command = ApproveCommand | CompressCommand | ContinueCommand | PingCommand | SendCommand | StopCommand | SubscribeCommand | UnsubscribeCommand | WatchSessionsCommand;
  type Frame = Accepted | CompressionFrame | ErrorFrame | FileFrame | Heartbeat | KnowledgeBaseChanged | KnowledgeBaseDeleted | ModelsChanged | OverallStop | Packet | Pong | ProjectChanged | ProjectDeleted | Queued | Reset | Resync | RunContinuedFrame | SessionChanged | SessionDeleted | SessionFrame | SessionsResync | SessionsWatched | Snapshot | Stopping | Subscribed | TagChanged | TurnStarted | Unsubscribed;
}
