/** Finds the knowledge base of a cited document: a citation names the document alone. */

import { documentAt, readBases, readDocument } from "../server/knowledge_api.js";
import { isReadable } from "./knowledge_store.js";

/** @param {string} document @returns {Promise<string|null>} its path below /api/; null: in none that the user may read */
export async function placeOfDocument(document) {
  const bases = (await readBases()).filter(isReadable);
  const found = await Promise.all(
    bases.map(({ id }) =>
      readDocument(id, document).then(
        () => documentAt(id, document),
        () => "",
      ),
    ),
  );
  return found.find(Boolean) ?? null;
}
