/**
 * The dialog of what MCP servers offer to be put into the message: resources are attached as files, prompts become its
 * text. A worker asks the server: its answer is waited for.
 */

import { apiErrorText } from "../answer/status_texts.js";
import { attemptOrClose, dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { askFor, text } from "../elements/forms.js";
import { icon } from "../elements/icons.js";
import { shown } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { ApiError, readCatalogs, call } from "../server/api.js";

/** @import {FileInfo} from "../types.js" */

/**
 * @typedef {object} Message  the one that is written
 * @property {(file: File, fetched: Promise<FileInfo>) => void} attach  file: its name and type alone
 * @property {(text: string) => void} insert
 * @property {(error: Error) => void} failed
 */

/** @param {Message} message */
export async function openServerAttachments(message) {
  const place = h("div", { class: "managed-rows" });
  const element = open(dialog(t("From servers"), { class: "large" }, place));
  await attemptOrClose(
    element,
    async () => {
      const catalogs = await readCatalogs();
      const none =
        catalogs.length === 0 && h("p", { class: "none" }, icon("info"), t("No server offers anything at the moment."));
      const sections = catalogs.map((catalog) => section(catalog, (action) => (element.close(), action(message))));
      place.replaceChildren(h("div", { class: "sections" }, none, ...sections));
      place.querySelector("button")?.focus();
    },
    message.failed,
  );
}

/** @param {McpCatalog} catalog @param {McpPrompt} prompt @param {Message} message */
export async function usePrompt(catalog, prompt, message) {
  const fill = (/** @type {Record<string, string>} */ values) =>
    named(catalog, fillPrompt(catalog.server, prompt.name, withoutEmpty(values)));
  try {
    const filled = prompt.arguments.length > 0 ? await askArguments(prompt, fill) : await fill({});
    if (filled !== null) message.insert(filled);
  } catch (/** @type {any} */ error) {
    message.failed(error);
  }
}

/** @param {McpPrompt} prompt @param {(values: Record<string, string>) => Promise<string>} save @returns {Promise<string|null>} null: cancelled */
function askArguments(prompt, save) {
  const fields = Object.fromEntries(
    prompt.arguments.map(({ name, title, description, required }) => [
      `arguments.${name}`,
      text(
        required ? title : t("%(label)s (optional)", { label: title }),
        { rows: 1, required, dir: "auto" },
        description,
      ),
    ]),
  );
  const note = h("p", { class: "hint", dir: "auto", hidden: !prompt.description }, prompt.description);
  const given = (/** @type {Record<string, string>} */ values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.slice("arguments.".length), value]));
  return askFor(prompt.title, {
    yes: t("Insert"),
    fields,
    note,
    look: "large form",
    save: (values) => save(given(values)),
  });
}

/** @param {McpCatalog} catalog @param {(action: (message: Message) => any) => void} choose */
function section(catalog, choose) {
  const { name, resources, prompts } = catalog;
  const files = resources.map((resource) =>
    row("file", resource.name, resource.description, () => choose((message) => attach(catalog, resource, message))),
  );
  const texts = prompts.map((prompt) =>
    row("edit", prompt.title, prompt.description, () => choose((message) => usePrompt(catalog, prompt, message))),
  );
  return h(
    "section",
    { "aria-label": name },
    h("h3", { dir: "auto" }, name),
    stateOf(catalog),
    h("ul", { class: "rows" }, ...files, ...texts),
  );
}

/** Why a server offers nothing now. @param {McpCatalog} catalog */
function stateOf({ name, status, sign_in_state }) {
  if (sign_in_state === "needs_sign_in")
    return h("p", {}, h("a", { href: "/mcp/" }, t("Sign in to %(name)s", { name })));
  return status === "down" && h("p", { class: "hint" }, t("%(name)s cannot be reached at the moment.", { name }));
}

/** @param {import("../elements/icons.js").IconName} mark @param {string} name @param {string} description @param {() => void} onclick */
function row(mark, name, description, onclick) {
  const begins = h("span", { class: "hint", dir: "auto" }, shown(description));
  return h(
    "li",
    {},
    icon(mark),
    h("button", { type: "button", class: "whole", onclick }, h("strong", { dir: "auto" }, shown(name)), begins),
  );
}

/** @param {McpCatalog} catalog @param {McpResource} resource @param {Message} message */
function attach(catalog, { uri, name, content_type: type }, message) {
  message.attach(new File([], name, { type }), named(catalog, attachResource(catalog.server, uri)));
}

/** Puts the name of the server into what its failure says. @template T @param {McpCatalog} catalog @param {Promise<T>} asked @returns {Promise<T>} */
async function named({ name }, asked) {
  try {
    return await asked;
  } catch (/** @type {any} */ error) {
    // The message of a refusal has the name of the server already, and its own words.
    const words =
      error.code === "mcp_server_refused"
        ? error.message
        : t("%(name)s: %(problem)s", { name, problem: apiErrorText(error) });
    throw error.field ? error : new ApiError(error.status, "", words);
  }
}

/** @param {Record<string, string>} values */
const withoutEmpty = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

/**
 * @typedef {McpResourceAnswer} McpResource
 * @typedef {McpPromptAnswer} McpPrompt
 * @typedef {McpCatalogAnswer} McpCatalog  what an MCP server offers to be put into messages
 */

const ASK_EVERY_MS = 400;

/** @param {string} server @param {string} uri @returns {Promise<FileAnswer>} */
async function attachResource(server, uri) {
  const { file } = await answerTo(await call("POST", `mcp-servers/${server}/resources/`, { uri }));
  if (!file) throw new ApiError(404, "file_not_found", "");
  return file;
}

/** @param {string} server @param {string} name @param {Record<string, string>} values @returns {Promise<string>} */
const fillPrompt = async (server, name, values) =>
  (await answerTo(await call("POST", `mcp-servers/${server}/prompts/`, { name, arguments: values }))).text;

/** @param {McpRequestAnswer} request @returns {Promise<McpRequestAnswer>} the server fails what nobody answers */
async function answerTo(request) {
  while (request.status === "waiting") {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    request = await call("GET", `mcp-requests/${request.id}/`);
  }
  if (request.error) throw new ApiError(409, request.error.code, request.error.message);
  return request;
}
