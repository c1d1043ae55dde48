/**
 * The card of a document: number, title, host, beginning. Only http and https addresses become links; files and
 * documents open in the viewer, at what was found in them.
 */

import { h } from "../elements/element.js";
import { hostOf } from "../elements/formats.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { shown } from "../elements/visible_text.js";
import { openFile } from "../files/files.js";
import { documentAt } from "../knowledge/knowledge_api.js";

/** @import {Source} from "../types.js" */

const WEB = /^https?:\/\//i;
const FILE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param {Source} source @returns {HTMLElement} */
export function documentCard(source) {
  return linkTo(source, "document-card", cardParts(source));
}

/** The content of a card, in a list or over a citation. @param {Source} source */
export function cardParts(source) {
  return [
    h(
      "span",
      { class: "document-head" },
      source.place ? h("span", { class: "number" }, String(source.place)) : "",
      h("span", { class: "document-host" }, hostOf(source.url) || t("Document")),
      isLinkable(source) && icon("external"),
    ),
    h("span", { class: "document-title" }, shown(titleOf(source))),
    source.snippet && h("span", { class: "document-snippet" }, shown(source.snippet)),
  ].filter((part) => part instanceof Node);
}

/** A link that opens the document in a new tab, a button that opens a file; a span for other documents. @param {Source} source @param {string} look @param {Node[]} parts @param {() => Source} [known] the same source with all that is known of it by now */
export function linkTo(source, look, parts, known = () => source) {
  if (isFile(source)) return h("button", { type: "button", class: look, onclick: () => openSource(known()) }, ...parts);
  if (!isLinkable(source)) return h("span", { class: look }, ...parts);
  return h("a", { class: look, href: source.url, target: "_blank", rel: "noopener noreferrer nofollow" }, ...parts);
}

/** @param {Source} source */
const isFile = (source) => !isLinkable(source) && FILE.test(source.document_id ?? "");

/** @param {Source} source */
const isLinkable = ({ url }) => WEB.test(url ?? "");

/** @param {Source} source */
export const titleOf = ({ title, url, document_id }) => title || url || document_id;

/** @param {import("../types.js").Source} source */
function openSource({ document_id: id, title: name, knowledge_base: base, snippet, passage, statement }) {
  const at = base ? { at: documentAt(base, id) } : {};
  return openFile({ id, name, ...at, ...(snippet ? { passage: { text: snippet, statement, ...passage } } : {}) });
}
