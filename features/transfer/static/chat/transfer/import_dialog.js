/** Imports a chat, or those of another product: a dialog says what it takes, shows how much is sent, and what came of it. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { takeDrops } from "../files/file_uploads.js";
import { t, tn } from "../i18n.js";
import { ApiError } from "../server/api.js";
import { upload } from "../server/upload.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {Session} from "../types.js" */

/** @template T @typedef {(file: File, progressed: (share: number) => void) => {done: Promise<T>, abort: () => void}} Send */

/** @param {string} path @param {string} contentType */
const importing =
  (path, contentType) => /** @param {File} file @param {(share: number) => void} progressed */ (file, progressed) =>
    upload(path, file, { contentType, progressed });

/** @type {Send<Session>} */
const importFile = importing("sessions/import/", "application/json");
/** @type {Send<Session>} */
const importArchive = importing("sessions/import/", "application/zip");
/** JSON of another product, or its zip. @type {Send<ForeignImportAnswer>} */
const importForeign = importing("sessions/import/foreign/", "application/octet-stream");

export function openImport() {
  open(new ImportDialog().element);
}

class ImportDialog {
  constructor() {
    this.field = h("input", { type: "file", accept: ".json,.zip,application/json,application/zip", hidden: true });
    this.field.addEventListener("change", () => this.#import(this.field.files[0]));
    const choose = h(
      "button",
      { type: "button", class: "primary", onclick: () => this.field.click() },
      t("Choose a file"),
    );
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.choice = h("div", {}, formats(), this.problem, this.field, h("div", { class: "row" }, choose));
    this.place = h("div", {}, this.choice);
    /** Of what is being sent. */
    this.abort = () => {};
    this.element = dialog(t("Import a chat"), { class: "question", closed: () => this.abort() }, this.place);
    takeDrops(
      this.place,
      ([file]) => this.#import(file),
      () => this.choice.isConnected,
    );
  }

  /** Opens the new chat, or says what came of many. @param {File} file */
  async #import(file) {
    this.problem.hidden = true;
    // The same one may be chosen again.
    this.field.value = "";
    try {
      await this.#send(file);
    } catch (error) {
      if (error.code === "aborted") return;
      this.#show(this.choice);
      this.problem.textContent = failureText(error);
      this.problem.hidden = false;
    }
  }

  /** @param {File} file */
  async #send(file) {
    const isZip = await isArchive(file);
    if (isZip ? !(await hasManifest(file)) : await isForeign(file)) return this.#importForeign(file);
    const session = isZip
      ? await this.#withProgress(file, importArchive, t("Its files are being stored …"))
      : await this.#withProgress(file, importFile, t("It is being stored …"));
    this.element.close();
    location.hash = session.id;
  }

  /** In as many requests as it takes. @param {File} file */
  async #importForeign(file) {
    let added = 0;
    let fresh = 0;
    /** @type {ForeignImportAnswer|undefined} */
    let answer;
    /** @type {ForeignImportAnswer["remarks"]} */
    const remarks = [];
    let problem = "";
    do {
      try {
        answer = await this.#withProgress(file, importForeign, t("Its chats are being stored …"));
      } catch (error) {
        // What was imported before it is said too.
        if (!answer || error.code === "aborted") throw error;
        problem = failureText(error);
        break;
      }
      fresh = answer.imported.filter((one) => one.is_new).length;
      added += fresh;
      remarks.push(...answer.remarks);
    } while (fresh && !answer.is_complete);
    const failure = h("p", { class: "problem", role: "alert", hidden: !problem }, problem);
    this.#show(...outcome(added, { ...answer, remarks }), failure);
  }

  /**
   * @template T
   * @param {File} file @param {Send<T>} send @param {string} storing  shown when all is sent
   */
  async #withProgress(file, send, storing) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": t("Sent") });
    const status = h("p", { role: "status" }, t("Sending %(name)s …", { name: file.name }));
    const { done, abort } = send(file, (share) => {
      bar.value = share;
      if (share === 1) status.textContent = storing;
    });
    this.abort = abort;
    const cancel = h("button", { type: "button", onclick: () => this.element.close() }, t("Cancel"));
    this.#show(status, bar, h("div", { class: "row" }, cancel));
    // A click beside it ends nothing that is being sent.
    this.element.setAttribute("closedby", "closerequest");
    return done;
  }

  /** @param {...Node} content */
  #show(...content) {
    this.place.replaceChildren(...content);
    this.element.setAttribute("closedby", "any");
  }
}

function formats() {
  const own = h(
    "li",
    {},
    h("strong", {}, "Turnwire"),
    ": ",
    t("a chat that was exported as JSON or as ZIP, with its files"),
  );
  const archives = h(
    "li",
    {},
    h("strong", {}, "ChatGPT, Claude, DeepSeek"),
    ": ",
    t("the ZIP that they send you, or conversations.json from it"),
  );
  const files = h("li", {}, h("strong", {}, "Open WebUI, LibreChat"), ": ", t("the JSON that they export"));
  return h("div", {}, h("p", {}, t("Choose a file, or drop it here:")), h("ul", {}, own, archives, files));
}

/** @param {number} added @param {ForeignImportAnswer} answer  the last one, with the remarks of all @returns {Node[]} */
function outcome(added, { imported, refused, remarks }) {
  const there = imported.length - Math.min(added, imported.length);
  return [
    h("p", { role: "status" }, tn("%(count)s chat was imported.", "%(count)s chats were imported.", added)),
    h("p", { hidden: !there }, tn("%(count)s was there already.", "%(count)s were there already.", there)),
    ...listed(refused, t("Not imported: %(count)s", { count: String(refused.length) }), t("Not imported")),
    ...listed(
      remarks,
      t("Imported with something missing: %(count)s", { count: String(remarks.length) }),
      t("Imported with something missing"),
    ),
  ];
}

/** @param {ForeignImportAnswer["refused"]} entries @param {string} heading @param {string} label @returns {HTMLElement[]} */
function listed(entries, heading, label) {
  if (!entries.length) return [];
  const lines = entries.map((one) =>
    h(
      "li",
      {},
      h("strong", { dir: "auto" }, one.title || t("Untitled chat")),
      " ",
      one.message,
      h("br"),
      h("small", {}, placeOf(one)),
    ),
  );
  return [h("p", {}, heading), h("ul", { class: "refused-imports", tabIndex: 0, "aria-label": label }, ...lines)];
}

/** Where in the file, or in which file of the zip. @param {ForeignImportAnswer["refused"][number]} refused */
function placeOf({ file, line, field }) {
  const place = { file, line: String(line), field: field || "–" };
  return file ? t("%(file)s, line %(line)s, %(field)s", place) : t("Line %(line)s, %(field)s", place);
}

/** By its first bytes: names and types differ between systems. @param {File} file */
const isArchive = async (file) => (await file.slice(0, 2).text()) === "PK";

/** JSON that does not begin like an export of Turnwire. @param {File} file */
async function isForeign(file) {
  const start = (await file.slice(0, 200).text()).trimStart();
  if (!/^[[{]/.test(start)) throw new ApiError(400, "", t("This is not a chat that was exported as JSON or ZIP."));
  return !/^\{\s*"format"\s*:/.test(start);
}

/** @param {any} error */
function failureText(error) {
  if (error.code === "body_too_large") return t("This file is too large to be imported.");
  if (error.status !== 400 || !error.code) return apiErrorText(error);
  return t("This file cannot be imported: %(why)s", { why: error.message });
}

// Looks into the directory of a zip without unpacking anything.

/** The longest that the server reads, and the longest end that may follow it. */
const LONGEST_DIRECTORY = 2 ** 20;
const LONGEST_END = 22 + 2 ** 16;
/** An entry: its signature, 42 bytes, and its name. */
const MANIFEST = /PK\x01\x02[^]{42}manifest\.json/;

/** Whether the zip is a chat that Turnwire exported; other zips are those of other products. @param {Blob} file */
export async function hasManifest(file) {
  const end = await file.slice(Math.max(0, file.size - LONGEST_DIRECTORY - LONGEST_END)).arrayBuffer();
  // Of one byte each, so that their number is kept.
  return MANIFEST.test(new TextDecoder("latin1").decode(end));
}
