/** The page behind a public link: renders the branch whose data the page contains. */

import { citationChip } from "../markdown/citation_chip.js";
import { documentCard } from "../answer/document_card.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { MarkdownView } from "../markdown/markdown.js";

/** @import {Source} from "../types.js" */

/**
 * @typedef {object} SharedMessage
 * @property {"user"|"assistant"} role
 * @property {string} text
 * @property {string} sent_at
 * @property {string[]} files
 * @property {Source[]} citations
 * @property {string} [model]
 * @property {string} [error]
 * @property {string} [reasoning]
 * @property {{name: string, status: string, arguments: object, response: string}[]} [tool_calls]
 */

const DATE = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** @param {SharedMessage} message */
function question(message) {
  const files = message.files.length > 0 && h("ul", { class: "question-files", "aria-label": t("Files") }, ...message.files.map((name) => h("li", {}, name)));
  return h("article", { class: "message user", "aria-label": t("Question") }, files, h("div", { class: "question-text" }, message.text));
}

/** @param {SharedMessage} message */
function answer(message) {
  const text = h("div", { class: "body markdown" });
  const view = new MarkdownView(text, { citation: (source) => citationChip(source, () => source) });
  view.show(message.text, { citations: message.citations });
  const sentAt = h("time", { dateTime: message.sent_at }, DATE.format(new Date(message.sent_at)));
  const head = h("header", {}, h("span", { class: "model" }, message.model ?? ""), sentAt);
  const error = message.error && h("p", { class: "problem" }, message.error);
  return h("article", { class: "message answer", "aria-label": t("Answer") }, head, ...details(message), text, error, sources(message));
}

/** What the owner chose to show beside the text. @param {SharedMessage} message */
function details(message) {
  const folded = (message.tool_calls ?? []).map((call) =>
    fold(call.name, h("pre", {}, JSON.stringify(call.arguments, null, 2)), h("pre", {}, call.response)),
  );
  if (message.reasoning) folded.unshift(fold(t("Reasoning"), h("p", { class: "thought" }, message.reasoning)));
  return folded;
}

/** @param {string} title @param {...Node} content */
function fold(title, ...content) {
  return h("details", {}, h("summary", {}, title), ...content);
}

/** @param {SharedMessage} message */
function sources({ citations }) {
  if (citations.length === 0) return null;
  return h("footer", {}, h("h2", {}, t("Sources")), h("ul", { class: "document-cards" }, ...citations.map((cited) => h("li", {}, documentCard(cited)))));
}

/** @type {{messages: SharedMessage[]}} */
const shown = JSON.parse(document.getElementById("shown").textContent);
const views = shown.messages.map((message) => (message.role === "user" ? question(message) : answer(message)));
document.getElementById("conversation").replaceChildren(...views);
