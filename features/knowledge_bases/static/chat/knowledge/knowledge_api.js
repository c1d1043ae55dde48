/** REST calls of knowledge bases, their documents and their members. */

import { call, readAllPages } from "../server/api.js";
import { upload } from "../server/upload.js";

/** @import {FoundPassage, KnowledgeBase, KnowledgeDocument, Member, MemberRole} from "../types.js" */

const baseAt = (/** @type {string} */ base) => `knowledge-bases/${base}/`;
/** Below /api/. @param {string} base @param {string} document */
export const documentAt = (base, document) => `${baseAt(base)}documents/${document}/`;

/** @returns {Promise<KnowledgeBase[]>} all that the user is a member of, the latest changed first */
export const readBases = () => readAllPages("knowledge-bases/");
/** @param {string} base @returns {Promise<KnowledgeBase>} */
export const readBase = (base) => call("GET", baseAt(base));
/** @param {string} name @returns {Promise<KnowledgeBase>} */
export const createBase = (name) => call("POST", "knowledge-bases/", { name });
/** @param {string} base @param {Partial<KnowledgeBaseBody>} fields @returns {Promise<KnowledgeBase>} */
export const changeBase = (base, fields) => call("PATCH", baseAt(base), fields);
/** With its documents. @param {string} base */
export const deleteBase = (base) => call("DELETE", baseAt(base));

/** The own membership. @param {string} base @param {boolean} ownership  also that the base may count for the user @returns {Promise<KnowledgeBase>} */
export const acceptBase = (base, ownership) => call("POST", `${baseAt(base)}accept/`, { ownership });

/** @typedef {{results: KnowledgeDocument[], next: string|null}} DocumentPage  next: the query of the page after it */

/** @param {string} base @param {string} query of a page; empty: the first one @returns {Promise<DocumentPage>} */
export async function readDocuments(base, query) {
  const { results, next } = await call("GET", `${baseAt(base)}documents/${query}`);
  return { results, next: next && new URL(next, location.origin).search };
}
/** @param {string} base @param {string} document @returns {Promise<KnowledgeDocument>} */
export const readDocument = (base, document) => call("GET", documentAt(base, document));
/** @param {string} base @param {NewDocumentBody} fields @returns {Promise<KnowledgeDocument>} */
export const addDocument = (base, fields) => call("POST", `${baseAt(base)}documents/`, fields);
/** A new version; the one before is found until the new one can be. @param {string} base @param {string} document @param {DocumentBody} fields @returns {Promise<KnowledgeDocument>} */
export const replaceDocument = (base, document, fields) => call("PUT", documentAt(base, document), fields);
/** @param {string} base @param {string} document @param {string} title @returns {Promise<KnowledgeDocument>} */
export const renameDocument = (base, document, title) => call("PATCH", documentAt(base, document), { title });
/** @param {string} base @param {string} document */
export const deleteDocument = (base, document) => call("DELETE", documentAt(base, document));

/**
 * @param {string} base @param {File} file @param {(share: number) => void} [progressed]
 * @returns {{done: Promise<KnowledgeDocument>, abort: () => void}} as upload()
 */
export const uploadDocument = (base, file, progressed) =>
  upload(`${baseAt(base)}documents/`, formOf(file), { progressed });

/** As replaceDocument(). @param {string} base @param {string} document @param {File} file @returns {{done: Promise<KnowledgeDocument>, abort: () => void}} */
export const uploadVersion = (base, document, file) =>
  upload(documentAt(base, document), formOf(file), { method: "PUT" });

/** @param {File} file */
function formOf(file) {
  const form = new FormData();
  form.append("file", file, file.name);
  return form;
}

/** @param {string} base @returns {Promise<Member[]>} */
export const readMembers = (base) => call("GET", `${baseAt(base)}members/`);
/** @param {string} base @param {MemberBody} member @returns {Promise<Member>} */
export const addMember = (base, member) => call("POST", `${baseAt(base)}members/`, member);
/** @param {string} base @param {string} member @param {MemberRole} role @returns {Promise<Member>} */
export const changeMember = (base, member, role) => call("PATCH", `${baseAt(base)}members/${member}/`, { role });
/** Also one's own: to leave. @param {string} base @param {string} member */
export const removeMember = (base, member) => call("DELETE", `${baseAt(base)}members/${member}/`);

/** @param {string} base @param {string} query @param {number} limit @returns {Promise<FoundPassage[]>} best first */
export const searchBase = (base, query, limit) =>
  call("GET", `${baseAt(base)}search/?${new URLSearchParams({ q: query, limit: String(limit) })}`);
