/** The dialogs that add a document by text or address, rename one, and replace its text. Loaded with the first of them. */

import { t } from "../i18n.js";
import { readText } from "../files/files_api.js";
import { addDocument, documentAt, renameDocument, replaceDocument } from "./knowledge_api.js";
import { askFor, line, text } from "../elements/form_dialog.js";

/** @import {KnowledgeDocument} from "../types.js" */

const LONGEST_TITLE = 255;

/** @param {"text"|"address"} kind @param {string} base @returns {Promise<KnowledgeDocument|null>} null: cancelled */
export const add = (kind, base) => (kind === "text" ? addText(base) : addAddress(base));

/** @param {string} base */
function addText(base) {
  const fields = textFields("", "");
  return askFor(t("Add a text"), {
    yes: t("Add"),
    fields,
    look: "large form",
    save: (values) => addDocument(base, values),
  });
}

/** @param {string} base */
function addAddress(base) {
  const fields = {
    url: line(
      t("Address"),
      { type: "url", required: true, placeholder: "https://", maxLength: 2000 },
      t("The page is read once, without logging in."),
    ),
    title: line(t("Title"), { maxLength: LONGEST_TITLE }, t("Left empty: that of the page.")),
  };
  return askFor(t("Add a web page"), {
    yes: t("Add"),
    fields,
    save: ({ url, title }) => addDocument(base, { url, ...(title ? { title } : {}) }),
  });
}

/** @param {string} base @param {KnowledgeDocument} document */
export function rename(base, { id, title }) {
  const fields = { title: line(t("Title"), { maxLength: LONGEST_TITLE, required: true, value: title }) };
  return askFor(t("Rename this document"), {
    yes: t("Rename"),
    fields,
    save: (values) => renameDocument(base, id, values.title),
  });
}

/** @param {string} base @param {KnowledgeDocument} document */
export async function rewrite(base, { id, title, status }) {
  const before = status === "ready" ? await readText(documentAt(base, id)) : "";
  const fields = textFields(title, before);
  return askFor(t("Replace the text"), {
    yes: t("Save"),
    fields,
    look: "large form",
    save: (values) => replaceDocument(base, id, values),
  });
}

/** @param {string} title @param {string} value */
function textFields(title, value) {
  return {
    title: line(t("Title"), { maxLength: LONGEST_TITLE, required: true, value: title }),
    text: text(t("Text"), { rows: 14, required: true, value }),
  };
}
