/** Translated texts for the error codes of rejected requests: what happened and what to do. */

import { language, t } from "../i18n.js";

/** For requests that the page built wrongly: the user can only reload. */
const INVALID_REQUEST = () => t("The page sent something the server does not take. Reload the page and try again.");

/** @param {number} [max] */
const count = (max = 0) => ({ max: max.toLocaleString(language) });

/** @param {number} [bytes] */
export function byteText(bytes = 0) {
  const [unit, name] = bytes < 2 ** 20 ? [2 ** 10, "KiB"] : bytes < 2 ** 30 ? [2 ** 20, "MiB"] : [2 ** 30, "GiB"];
  return `${(bytes / unit).toLocaleString(language, { maximumFractionDigits: 1 })} ${name}`;
}

/** The user's own time of day. @param {string} [moment] ISO 8601 */
export const clockTime = (moment) =>
  moment ? new Date(moment).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" }) : "00:00";

/** @type {Record<string, (max: number, resetsAt?: string) => string>} max: of a quota; resetsAt: of a daily limit */
export const API_ERRORS = {
  invalid_json: INVALID_REQUEST,
  json_too_deep: INVALID_REQUEST,
  invalid_encoding: INVALID_REQUEST,
  invalid_type: INVALID_REQUEST,
  invalid_id: INVALID_REQUEST,
  invalid_pagination: INVALID_REQUEST,
  invalid_cursor: INVALID_REQUEST,
  unknown_type: INVALID_REQUEST,
  unsupported_frame: INVALID_REQUEST,
  unknown_field: INVALID_REQUEST,
  invalid_multipart: INVALID_REQUEST,
  invalid_range: INVALID_REQUEST,
  invalid_value: () => t("The server does not accept this value. Change it and try again."),
  invalid_characters: () => t("The text holds characters that cannot be stored. Remove them and send it again."),
  field_required: () => t("Something is missing. Fill it in and try again."),
  request_timeout: () => t("The request took too long to arrive. Check your connection and try again."),
  headers_too_large: () => t("The browser sent too many headers. Delete the cookies of this site and try again."),
  too_many_connections: () => t("Too many connections are open from your address. Close some tabs and try again."),
  too_many_uploads: () => t("Too much is being sent at the moment. Try again shortly."),
  body_too_large: () => t("This is too large to be sent. Shorten it, or attach it as a file."),

  not_authenticated: () => t("You are logged out. Log in again."),
  invalid_credentials: () => t("The user name or the password is wrong. Try again."),
  permission_denied: () => t("You may not do this. Ask whoever runs this server."),
  token_read_only: () => t("This token may only read. Use another one."),
  token_out_of_scope: () => t("This token is for other programs' requests alone. Use another one."),
  csrf_failed: () => t("This page is too old to be trusted. Reload it and try again."),
  rate_limited: () => t("Too many attempts. Wait a moment and try again."),
  login_busy: () => t("Too many people are logging in. Try again in a moment."),

  not_found: () => t("It is not there any more. Reload the page."),
  session_not_found: () => t("This chat does not exist (any more). Pick another one, or start a new chat."),
  message_not_found: () => t("This message does not exist (any more). Reload the page."),
  parent_not_found: () => t("The message this one belongs to does not exist (any more). Reload the page."),
  turn_not_found: () => t("This answer does not exist (any more). Reload the page."),
  run_not_found: () => t("This answer does not exist (any more). Reload the page."),
  file_not_found: () => t("A file does not exist (any more). Remove it from the message and send it again."),
  file_processing: () => t("A file is still being read. Send the message again in a moment."),
  attachments_too_large: (max) =>
    t(
      "A file has more than %(max)s tokens, the most that a picked model takes. Pick another model, or attach a part of it.",
      count(max),
    ),
  file_empty: () => t("This file is empty. Pick another one."),
  file_too_large: (max) =>
    t("This file is larger than %(size)s. Pick a smaller one, or a part of it.", { size: byteText(max) }),
  file_type_mismatch: () => t("The content of this file is not what its name says. Check it and pick another one."),
  file_storage_unavailable: () => t("Files cannot be stored right now. Try again in a moment."),
  file_failed: () => t("A file could not be read. Remove it from the message and send it again."),
  agent_not_found: () => t("This agent does not exist (any more). Pick another one."),
  prompt_not_found: () => t("This prompt does not exist (any more). Reload the page."),
  webhook_not_found: () => t("This webhook does not exist (any more). Reload the page."),
  provider_not_found: () => t("This provider does not exist (any more). Reload the page."),
  project_not_found: () => t("This project does not exist (any more). Pick another one."),
  knowledge_base_not_found: () => t("This knowledge base does not exist (any more). Pick another one."),
  document_not_found: () => t("This document does not exist (any more). Reload the page."),
  member_not_found: () => t("This person is not a member (any more). Reload the page."),
  user_not_found: () => t("There is no user of this name. Check how it is spelled."),
  not_allowed: () => t("Your role in this knowledge base does not allow this. Ask one of its owners."),
  already_member: () => t("This person is a member already. Change the role in the list."),
  last_owner: () =>
    t("A knowledge base needs an owner for whom it counts. Make another member one first, who accepts that."),
  too_many_invitations: (max) =>
    t("This person has not answered %(max)s of your invitations. More can follow when they are answered.", count(max)),
  too_many_shared_agents: (max) =>
    t("%(max)s of your agents are shared with this person, as many as may be.", count(max)),
  owner_without_room: () =>
    t("No other owner has room for what the knowledge base holds. Make a member with room one first."),
  tag_not_found: () => t("None of your chats has this tag any more."),
  too_many_tags: (max) => t("You have %(max)s different tags, as many as you may have. Delete one first.", count(max)),
  temporary_session: () => t("This chat is temporary. Keep it first."),
  share_not_found: () => t("This link does not work (any more). Ask for a new one."),
  token_not_found: () => t("This token does not exist (any more). Reload the page."),
  too_many_shares: () => t("This chat has too many links. Revoke one first."),
  encryption_unavailable: () =>
    t("Keys cannot be stored: set SECRETS_KEYS for web and the llm workers, and start them again."),
  provider_address_invalid: () => t("This is not the address of a model server. Enter another one."),
  provider_key_required: () => t("The stored key is not sent to another server. Enter the key again."),
  provider_name_taken: () => t("There is a provider of this name. Choose another one."),
  model_name_taken: () => t("There is another model of this name. Choose another one."),

  mcp_server_not_found: () => t("This MCP server is not there any more."),
  mcp_server_name_taken: () => t("There is an MCP server of this name. Choose another one."),
  mcp_command_refused: () => t("This program may not be started. MCP_COMMANDS names those that may."),
  mcp_url_refused: () => t("No MCP server is reached at this address. Enter another one."),
  mcp_variable_refused: () =>
    t(
      "Only environment variables that begin with MCP_ are given to MCP servers. Give the workers the value in such a variable.",
    ),

  mcp_resource_not_found: () => t("The server does not offer this any more. Choose something else."),
  mcp_prompt_not_found: () => t("The server does not offer this prompt any more. Choose another one."),
  mcp_request_not_found: () => t("There was no answer in time. Try again."),
  mcp_server_unavailable: () => t("This server cannot be reached at the moment. Try again later."),
  mcp_server_refused: () => t("The server has refused it."),
  mcp_sign_in_needed: () => t("You have to sign in first, on your profile."),
  not_signed_in: () => t("You have not signed in to the server yet."),
  mcp_server_without_sign_in: () => t("Nobody signs in to this MCP server. Reload the page."),
  too_many_mcp_servers: (max) =>
    t("There are %(max)s MCP servers, and there is no room for more. Delete one first.", count(max)),
  too_many_providers: (max) =>
    t("There are %(max)s providers, and there is no room for more. Delete one first.", count(max)),
  too_many_models: (max) => t("A provider has at most %(max)s models.", count(max)),
  too_many_sessions: (max) =>
    t("You have %(max)s chats, and there is no room for more. Delete one for good first.", count(max)),
  too_many_projects: (max) =>
    t("You have %(max)s projects, and there is no room for more. Delete one first.", count(max)),
  too_many_files: (max) => t("You have %(max)s files, and there is no room for more. Delete one first.", count(max)),
  too_many_waiting_files: (max) =>
    t("%(max)s files are waiting to be read, as many as may wait. Try again in a moment.", count(max)),
  too_many_knowledge_bases: (max) =>
    t("You have %(max)s knowledge bases, and there is no room for more. Delete one first.", count(max)),
  too_many_documents: (max) =>
    t("This knowledge base has %(max)s documents, and there is no room for more. Delete one first.", count(max)),
  too_many_chunks: (max) =>
    t(
      "The texts that are searched fill the %(max)s passages there are for them. Delete some documents first.",
      count(max),
    ),
  too_many_agents: (max) => t("You have %(max)s agents, and there is no room for more. Delete one first.", count(max)),
  too_many_prompts: (max) =>
    t("You have %(max)s prompts, and there is no room for more. Delete one first.", count(max)),
  too_many_tokens: (max) =>
    t("You have %(max)s API tokens, and there is no room for more. Delete one first.", count(max)),
  too_many_webhooks: (max) =>
    t("You have %(max)s webhooks, and there is no room for more. Delete one first.", count(max)),
  storage_full: (max) =>
    t("Your chats and files fill the %(size)s there are for them. Delete some chats for good first.", {
      size: byteText(max),
    }),
  too_many_sockets: (max) =>
    t(
      "You have %(max)s windows and programs connected. Close one: this page then connects within a minute.",
      count(max),
    ),
  too_many_answers: (max) => t("A question has at most %(max)s answers. Ask it again as a new message.", count(max)),

  message_empty: () => t("There is nothing to send. Write something first."),
  message_too_long: () => t("This message is too long. Shorten it, or attach it as a file."),
  models_invalid: () => t("A picked model is not available (any more). Pick again."),
  option_unsupported: () =>
    t("A picked model does not have an option of this chat. Change the options, or pick another model."),
  tool_not_configured: () => t("The tool that was asked for is not set up on this server. Ask without it."),
  tool_unknown: () => t("This model cannot use the tool that was asked for. Pick another model."),
  role_order: () => t("This message cannot be put there. Reload the page."),
  session_not_empty: () => t("This chat holds messages already."),
  parent_in_progress: () => t("The answer above is still being written. Wait for it, or stop it."),
  answer_in_progress: () =>
    t("An answer up to there is still being written. Fork the chat when it is complete, or stop it first."),
  turn_in_progress: () => t("The latest answer is still being written. Wait for it, or stop it."),
  not_continuable: () => t("This answer cannot be continued (any more). Reload the page."),
  already_decided: () => t("This is decided already, or the answer has ended."),
  tool_unavailable: () => t("This tool is not available any more. Refuse the call, or stop the answer."),
  arguments_invalid: () => t("The tool does not take these arguments."),
  answer_invalid: () => t("The answer does not fit the question."),
  tool_call_not_found: () => t("Nothing asks for your approval there any more."),
  not_waiting: () =>
    t("This question is being answered already: it can be neither changed nor taken back. Stop the answer instead."),
  idempotency_mismatch: () => t("This message was already sent with another content. Send it again."),
  daily_limit_reached: (_, resetsAt) =>
    t("You have used what you may use today. You can go on at %(time)s.", { time: clockTime(resetsAt) }),
  run_limit_reached: () => t("This answer has used all that one answer may use. Ask for the rest in a new message."),
  too_many_runs: () => t("Too many answers are being written at once. Wait for one to end, or stop one."),
  queue_full: () => t("Too many answers are waiting for a model. Try again in a moment."),
  stream_unavailable: () => t("Answers cannot be delivered right now. Try again in a moment."),

  // Codes of the page: no response arrived, or one that is not of the API.
  upload_interrupted: () => t("The upload was interrupted. Remove this file and attach it again."),
  unreachable: () => t("The server cannot be reached. Check your connection and try again."),
  proxy_too_large: () =>
    t("This is larger than a proxy in front of this server lets through. Send less, or ask whoever runs this server."),
  unreadable: () => t("The server sent something unexpected. Try again in a moment."),
};
