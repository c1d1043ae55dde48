/**
 * REST calls. They return parsed JSON; every failure is an ApiError. Here are those of sessions, messages and runs, and
 * what other modules make theirs of.
 */

import { parseJson } from "./exact_json.js";

/** @import {Message, Model, Session} from "../types.js" */

export class ApiError extends Error {
  /** @param {number} status 0: no response arrived @param {string} code @param {string} message @param {{requestId?: string, field?: string, max?: number, resetsAt?: string, retryAfterS?: number}} [more] field: of the body; max: of a quota or a size; resetsAt: of a daily limit; retryAfterS: 0 if the server does not say when to come back */
  constructor(status, code, message, { requestId = "", field, max, resetsAt, retryAfterS = 0 } = {}) {
    super(message);
    this.field = field;
    this.requestId = requestId;
    this.max = max;
    this.resetsAt = resetsAt;
    this.retryAfterS = retryAfterS;
    this.status = status;
    this.code = code;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Without a limit, a request never ends when the network is gone; callers that read retry. */
const LONGEST_READ_MS = 30_000;
/** In characters. What the user did goes on although they leave the page at once; browsers allow 64 KiB of such requests together. */
const LONGEST_KEPT_ALIVE = 2_000;

/** @returns {Promise<Model[]>} */
export const readModels = () => call("GET", "models/");

/** @returns {Promise<McpCatalogAnswer[]>} what MCP servers offer to be put into messages */
export const readCatalogs = () => call("GET", "mcp-catalogs/");

/** @param {string} id @returns {Promise<SessionAnswer>} */
export const readSession = (id) => call("GET", `sessions/${id}/`);
/** @param {string} id @param {string} title */
export const renameSession = (id, title) => call("PATCH", `sessions/${id}/`, { title });
/** @param {string} id */
export const deleteSession = (id) => call("DELETE", `sessions/${id}/`);

/** @param {string} session @param {number} limit @returns {Promise<Message[]>} the newest of the current branch, oldest first */
export const readBranch = (session, limit) => call("GET", `sessions/${session}/messages/?limit=${limit}`);

/** Reads the messages before one. @param {string} session @param {string} message @param {number} limit @returns {Promise<Message[]>} */
export const readAbove = (session, message, limit) =>
  call("GET", `sessions/${session}/messages/?before=${message}&limit=${limit}`);

/** Reads one message anywhere in the tree. @param {string} session @param {string} id @returns {Promise<Message>} */
export async function readMessage(session, id) {
  const newest = await call("GET", `sessions/${session}/messages/?leaf=${id}&limit=1`);
  return newest[newest.length - 1];
}

/** On all its branches. @param {string} session @param {string} query @returns {Promise<{message: string, match: string|null}[]>} */
export const findMessages = (session, query) =>
  call("GET", `sessions/${session}/search/?search=${encodeURIComponent(query)}`);

/** @param {string} session @returns {Promise<import("../types.js").TreeNode[]>} every message, root and summaries too */
export const readTree = (session) => call("GET", `sessions/${session}/tree/`);

/** @param {string} id */
export const readRun = (id) => call("GET", `runs/${id}/`);
/** @param {string} session @param {TurnBody} body @returns {Promise<StartedAnswer>} */
export const startTurn = (session, body) => call("POST", `sessions/${session}/turns/`, body);
/** @param {string} message @param {RegenerationBody} body @returns {Promise<StartedAnswer>} */
export const regenerate = (message, body) => call("POST", `messages/${message}/regenerations/`, body);
/** @param {string} message */
export const select = (message) => call("POST", `messages/${message}/selection/`);
/** @param {string} session */
export const compress = (session) => call("POST", `sessions/${session}/compression/`);
/** @param {string} session */
export const deleteSummary = (session) => call("DELETE", `sessions/${session}/compression/`);

/**
 * @param {string} session
 * @returns {Promise<{summary: import("../types.js").Summary|null, is_under_way: boolean}>} of the current branch
 */
export const readCompression = (session) => call("GET", `sessions/${session}/compression/`);
/** @param {string} run */
export const cancelRun = (run) => call("POST", `runs/${run}/cancellation/`);
/** @param {string} run */
export const continueRun = (run) => call("POST", `runs/${run}/continuation/`);

/** @param {"GET"|"POST"|"PUT"|"PATCH"|"DELETE"} method @param {string} path below /api/ @param {object} [body] @returns {Promise<any>} */
export const call = async (method, path, body) => (await callForPage(method, path, body)).answer;

/** Like call, with the address below /api/ of the next page of a list; null: there is none. @param {"GET"|"POST"|"PUT"|"PATCH"|"DELETE"} method @param {string} path @param {object} [body] @returns {Promise<{answer: any, next: string|null}>} */
async function callForPage(method, path, body) {
  const requestId = randomId();
  const json = method === "GET" ? undefined : JSON.stringify(body ?? {});
  const response = await sendRequest(() =>
    fetch(`/api/${path}`, {
      method,
      credentials: "same-origin",
      headers: {
        Accept: "application/json",
        "X-Request-ID": requestId,
        ...(method === "GET" ? {} : { "Content-Type": "application/json", "X-CSRFToken": csrfToken() }),
      },
      body: json,
      keepalive: json !== undefined && json.length <= LONGEST_KEPT_ALIVE,
      signal: method === "GET" ? AbortSignal.timeout(LONGEST_READ_MS) : undefined,
    }),
  );
  if (response.status === 204) return { answer: null, next: null };
  const answer = await response
    .text()
    .then(parseJson)
    .catch(() => /** @type {any} */ (null));
  const next = response.headers?.get("Link")?.match(/<([^>]*)>; rel="next"/)?.[1];
  if (response.ok && answer !== null) return { answer, next: next ? belowApi(next) : null };
  // A successful response that ended early.
  if (response.ok) throw new ApiError(0, "unreachable", "");
  throw refusal(response, answer, requestId);
}

/** @param {{status: number, statusText: string, headers?: Headers}} response @param {any} answer its body; null: it is not JSON @param {string} requestId */
export function refusal({ status, statusText, headers }, answer, requestId) {
  // A date, as some proxies send, is none.
  const retryAfterS = Number(headers?.get("Retry-After")) || 0;
  const unexplained = status === 413 ? "proxy_too_large" : "unreadable";
  return new ApiError(status, answer?.code ?? unexplained, answer?.message ?? statusText, {
    requestId: answer?.request_id ?? requestId,
    field: answer?.field,
    max: answer?.max ?? answer?.limit,
    resetsAt: answer?.resets_at,
    retryAfterS,
  });
}

/** Names a request in the logs of all processes, a message or an upload. Not randomUUID, which browsers offer over HTTPS alone. */
export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {() => Promise<Response>} request */
async function sendRequest(request) {
  try {
    return await request();
  } catch {
    throw new ApiError(0, "unreachable", "");
  }
}

/** Posts outside /api/: the language belongs to the page. @param {string} language */
export async function chooseLanguage(language) {
  const headers = { Accept: "application/json", "X-CSRFToken": csrfToken() };
  const response = await sendRequest(() =>
    fetch("/language/", { method: "POST", headers, body: new URLSearchParams({ language }) }),
  );
  if (!response.ok) throw new ApiError(response.status, "unreadable", response.statusText);
}

/** `next` contains the host that the server assumes; the page only sends requests to its own. @param {string} address */
function belowApi(address) {
  const { pathname, search } = new URL(address, location.origin);
  return (pathname + search).replace(/^\/api\//, "");
}

export function csrfToken() {
  return document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1] ?? "";
}

/** The server's largest page. */
export const LARGEST_PAGE = 200;

/**
 * @param {{limit: number, search?: string, project?: string, tag?: string, pinned?: boolean, archived?: boolean}} wanted
 *   project, tag: only sessions that have it; pinned: only those that are, or are not; archived: only the archive
 * @returns {Promise<{results: Session[], next: string|null}>} the newest
 */
export function readNewest({ limit, search, project, tag, pinned, archived }) {
  const wanted = {
    limit,
    search,
    project,
    tag,
    pinned: pinned === undefined ? "" : Number(pinned),
    archived: archived ? 1 : "",
  };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== "");
  return call("GET", `sessions/?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`);
}

/** @param {string} project empty: of all @param {string} [tag] empty: with and without @returns {Promise<Session[]>} all that are pinned, newest first */
export async function readPinned(project, tag = "") {
  let page = await readNewest({ limit: LARGEST_PAGE, project, tag, pinned: true });
  const all = [...page.results];
  while (page.next) {
    page = await readOlder(page.next);
    all.push(...page.results);
  }
  return all;
}

/** @param {number} limit @returns {Promise<{results: (Session & {deleted_at: string, purge_at: string, is_part: boolean})[], next: string|null}>} the latest deleted */
export const readTrash = (limit) => call("GET", `trash/?limit=${limit}`);

/** @param {string} id of a deleted one @returns {Promise<Session>} */
export const restoreSession = (id) => call("POST", `trash/${id}/restoration/`);

/** All of them, or none. @param {string[]} ids @param {"archive"|"unarchive"|"delete"|"restore"} action */
export const changeSessions = (ids, action) => call("POST", "sessions/bulk/", { ids, action });

/** @param {string} id @param {string} message an answer @returns {Promise<Session>} a new one with the branch up to it */
export const forkSession = (id, message) => call("POST", `sessions/${id}/fork/`, { message });

/** Deletes one for good, unless it holds something: another tab may have begun it meanwhile. @param {string} id */
export const discardSession = (id) => call("DELETE", `sessions/${id}/?if_empty=1`);

/** @param {string} next @returns {Promise<{results: Session[], next: string|null}>} */
export const readOlder = (next) => call("GET", belowApi(next));

/** @param {NewSessionBody} fields @returns {Promise<Session>} */
export const createSession = (fields) => call("POST", "sessions/", fields);

/** @param {string} id @param {SessionChangesBody} fields @returns {Promise<SessionAnswer>} */
export const changeSession = (id, fields) => call("PATCH", `sessions/${id}/`, fields);

/** @param {string} id @param {number} n the newest event that was shown */
export const markSeen = (id, n) => call("PUT", `sessions/${id}/seen/`, { n });

/** @param {string} question a queued one @returns {Promise<Session>} */
export const withdraw = (question) => call("POST", `messages/${question}/withdrawal/`);

/** @param {string} answer @param {string} text @returns {Promise<import("../types.js").Message>} a sibling of the answer, where the branch then ends */
export const editAnswer = (answer, text) => call("POST", `messages/${answer}/edits/`, { text });

/** @param {string} question a queued one @param {string} text @returns {Promise<import("../types.js").Message>} */
export const changeQuestion = (question, text) => call("PATCH", `messages/${question}/`, { text });

/** With all below it. @param {string} message @returns {Promise<{part: string|null}>} part: the session in the trash that restores it */
export const deleteMessage = (message) => call("DELETE", `messages/${message}/`);

/** @param {string} path of a list in pages that begin behind a row @returns {Promise<any[]>} */
export async function readAllPages(path) {
  const rows = [];
  for (let page = /** @type {string|null} */ (`${path}?limit=${LARGEST_PAGE}`); page;) {
    const { answer, next } = await callForPage("GET", page);
    rows.push(...answer);
    page = next;
  }
  return rows;
}

/** Accepts that what is deleted was deleted elsewhere meanwhile. @param {any} error */
export function unlessGone(error) {
  if (error.status !== 404) throw error;
}
