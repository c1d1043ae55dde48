/** Imports a chat from a file. */

import { ApiError } from "../server/api.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { importFile } from "../server/shares_api.js";
import { hasManifest } from "./archive_directory.js";

/** @import {Session} from "../types.js" */

/** Asks for a file, imports it and opens the new chat. @param {(error: any) => void} failed */
export function importSession(failed) {
  const field = h("input", { type: "file", accept: ".json,.zip,application/json,application/zip", hidden: true });
  field.addEventListener("change", async () => {
    field.remove();
    try {
      const session = await importFrom(field.files[0]);
      if (session) location.hash = session.id;
    } catch (error) {
      failed(error);
    }
  });
  field.addEventListener("cancel", () => field.remove());
  // Safari opens the file chooser only for a field that is in the document.
  document.body.append(field);
  field.click();
}

/** @param {File} file @returns {Promise<Session|null|void>} the new chat; nothing: cancelled, or many */
async function importFrom(file) {
  try {
    const isZip = await isArchive(file);
    if (isZip && (await hasManifest(file))) return await (await import("./import_dialog.js")).importWithProgress(file);
    if (isZip || (await isForeign(file))) return await (await import("./import_dialog.js")).importFromElsewhere(file);
    return await importFile(parseExport(await file.text()));
  } catch (error) {
    if (error.code === "body_too_large") throw new ApiError(413, "", t("This file is too large to be imported."));
    if (error.status !== 400 || !error.code) throw error;
    throw new ApiError(400, "", t("This file cannot be imported: %(why)s", { why: error.message }));
  }
}

/** By its first bytes: names and types differ between systems. @param {File} file */
const isArchive = async (file) => (await file.slice(0, 2).text()) === "PK";

/** JSON that does not begin like an export of Turnwire. It may be large: the server reads it. @param {File} file */
async function isForeign(file) {
  const start = (await file.slice(0, 200).text()).trimStart();
  return /^[[{]/.test(start) && !/^\{\s*"format"\s*:/.test(start);
}

/** @param {string} text */
function parseExport(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, "", t("This is not a chat that was exported as JSON or ZIP."));
  }
}
