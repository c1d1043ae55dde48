/** Exports a chat to a file and imports one. */

import { ApiError } from "../server/api.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { importFile } from "../server/shares_api.js";

/** Downloads the export. @param {{id: string}} session @param {"json"|"markdown"} kind */
export function exportSession(session, kind) {
  h("a", { href: `/api/sessions/${session.id}/export/?as=${kind}`, download: "" }).click();
}

/** Asks for a file, imports it and opens the new chat. @param {(error: any) => void} failed */
export function importSession(failed) {
  const field = h("input", { type: "file", accept: ".json,application/json", hidden: true });
  field.addEventListener("change", async () => {
    field.remove();
    try {
      location.hash = await importFrom(field.files[0]);
    } catch (error) {
      failed(error);
    }
  });
  field.addEventListener("cancel", () => field.remove());
  // Safari opens the file chooser only for a field that is in the document.
  document.body.append(field);
  field.click();
}

/** @param {File} file @returns {Promise<string>} the new chat */
async function importFrom(file) {
  const given = parseExport(await file.text());
  try {
    return (await importFile(given)).id;
  } catch (error) {
    if (error.status !== 400) throw error;
    throw new ApiError(400, "", t("This file cannot be imported: %(why)s", { why: error.message }));
  }
}

/** @param {string} text */
function parseExport(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, "", t("This is not a chat that was exported as JSON."));
  }
}
