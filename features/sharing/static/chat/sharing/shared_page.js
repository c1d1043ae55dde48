/** The page behind a public link: renders the branch, whose first messages the page contains, and reads the others as the reader gets there. */

import { citationChip } from "../markdown/citation_chip.js";
import { countedFromOne } from "../state/answer_text.js";
import { documentCard } from "../answer/document_card.js";
import { cutText } from "../answer/cut_view.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { shown, shownJson, visibleText } from "../elements/visible_text.js";
import { language, t } from "../i18n.js";
import { MarkdownView } from "../markdown/markdown.js";
import { QuestionText } from "../conversation/question_text.js";
import { parseJson } from "../server/exact_json.js";
import { call } from "../server/api.js";

/** @import {Source} from "../types.js" */

/** @typedef {SharedMessageAnswer} SharedMessage */
/** @typedef {SharedCallAnswer} SharedCall */
/** @typedef {SharedPageAnswer} SharedPage */

const DATE = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** @param {SharedMessage} message */
function question(message) {
  const files =
    message.files.length > 0 &&
    h("ul", { class: "question-files file-cards", "aria-label": t("Files") }, ...message.files.map(fileCard));
  const text = new QuestionText();
  text.show(message.text);
  return h("article", { class: "message user", "aria-label": t("Question") }, files, text.element);
}

/** Of a file that strangers cannot open. @param {string} name */
function fileCard(name) {
  const face = h(
    "span",
    { class: "file-open" },
    h("span", { class: "file-picture" }, icon("file")),
    h("span", { class: "file-name", title: visibleText(name) }, shown(name)),
  );
  return h("li", { class: "file-card" }, face);
}

/** @param {SharedMessage} message */
function answer(message) {
  const text = h("div", { class: "body markdown" });
  const view = new MarkdownView(text, { citation: (source) => citationChip(source, () => source) });
  const citations = countedFromOne(message.text, message.citations);
  view.show(message.text, { citations });
  const sentAt = h("time", { dateTime: message.sent_at }, DATE.format(new Date(message.sent_at)));
  const head = h(
    "header",
    {},
    h("span", { class: "model" }, message.model ?? ""),
    message.is_edited && h("span", { class: "edited" }, icon("edit"), t("Edited")),
    sentAt,
  );
  const { finish_reason: reason, finish_tokens: tokens } = message;
  const cut = reason && h("p", { class: "cut" }, cutText({ reason, tokens: tokens ?? null }));
  const error = message.error && h("p", { class: "problem" }, message.error);
  return h(
    "article",
    { class: "message answer", "aria-label": t("Answer") },
    head,
    ...details(message),
    text,
    cut,
    error,
    sources(citations),
  );
}

/** What the owner chose to show beside the text. @param {SharedMessage} message */
function details(message) {
  /** @type {HTMLElement[]} */
  const folded = (message.tool_calls ?? []).map(toolCall);
  if (message.has_more_tool_calls) folded.push(h("p", { class: "hint" }, t("More tool calls are not shown here.")));
  if (message.reasoning) folded.unshift(fold(t("Reasoning"), h("p", { class: "thought" }, message.reasoning)));
  return folded;
}

/** @param {SharedCall} call */
function toolCall(call) {
  const shortened = call.is_shortened && h("p", { class: "hint" }, t("Shortened, since it is very long."));
  return fold(
    call.name,
    h("pre", { dir: "ltr" }, ...shownJson(JSON.stringify(call.arguments, null, 2))),
    h("pre", {}, shown(call.response)),
    shortened,
  );
}

/** @param {string} title @param {...(Node|false|undefined)} content */
function fold(title, ...content) {
  return h("details", {}, h("summary", {}, shown(title)), ...content);
}

/** @param {Source[]} citations */
function sources(citations) {
  if (citations.length === 0) return null;
  return h(
    "footer",
    {},
    h("h2", {}, t("Sources")),
    h("ul", { class: "document-cards" }, ...citations.map((cited) => h("li", {}, documentCard(cited)))),
  );
}

const conversation = document.getElementById("conversation");
const problem = h("p", { class: "problem", role: "alert", hidden: true });
const more = h("button", { type: "button", class: "small", onclick: readNext }, t("Show more"));
/** @type {number|null} */
let next = null;
let isReading = false;
// Near the end, so that who reads on waits for nothing.
const nearEnd = new IntersectionObserver(
  (entries) => {
    if (entries.some((entry) => entry.isIntersecting)) void readNext();
  },
  { rootMargin: "1000px" },
);

/** @param {SharedPage} page */
function append(page) {
  const views = page.messages.map((message) => (message.role === "user" ? question(message) : answer(message)));
  conversation.append(...views);
  next = page.next;
  nearEnd.disconnect();
  more.hidden = next === null;
  // Observed anew: what is still in sight is reported again.
  if (next !== null) nearEnd.observe(more);
}

async function readNext() {
  if (isReading || next === null) return;
  isReading = true;
  problem.hidden = true;
  try {
    append(await readSharedPage(conversation.dataset.link, next));
  } catch (error) {
    nearEnd.disconnect();
    const isGone = /** @type {any} */ (error).status === 404;
    problem.textContent = isGone ? t("This chat is not shared any more.") : t("The rest could not be loaded.");
    problem.hidden = false;
    more.hidden = isGone;
  } finally {
    isReading = false;
  }
}

conversation.after(problem, more);
append(parseJson(document.getElementById("shown").textContent));

/** Reads without a login. @param {string} link its token @param {number} page @returns {Promise<any>} */
const readSharedPage = (link, page) => call("GET", `shared/${link}/?page=${page}`);
