/** Opens the file or document that a source names, at the passage that was found. */

import { openFile } from "../files/open_file.js";

/** @param {import("../types.js").Source} source */
export function openSource({ document_id: id, title: name, knowledge_base: base, snippet, passage, statement }) {
  const at = base ? { at: documentAt(base, id) } : {};
  return openFile({ id, name, ...at, ...(snippet ? { passage: { text: snippet, statement, ...passage } } : {}) });
}

/** Below /api/. @param {string} base @param {string} document */
export const documentAt = (base, document) => `knowledge-bases/${base}/documents/${document}/`;
