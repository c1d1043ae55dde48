/** The result of a tool call: documents as cards, a report or a checked summary as text, anything else verbatim, with JSON indented; below it its images. */

import { documentCard } from "../answer/document_card.js";
import { h } from "../elements/element.js";
import { showText, visibleText } from "../elements/visible_text.js";
import { openFile, thumbnailAddress } from "../files/files.js";
import { t } from "../i18n.js";
import { MarkdownView } from "../markdown/markdown.js";
import { parseJson } from "../server/exact_json.js";
import { noteIn } from "../state/tool_rounds.js";
import { safeSummaryText, cardOf } from "./tool_texts.js";

/** @import {ToolCall} from "../types.js" */

export class CallOutcome {
  /** @param {import("./call_view.js").ReadWhole} readWhole */
  constructor(readWhole) {
    this.readWhole = readWhole;
    /** @type {ToolCall|undefined} */
    this.call = undefined;
    this.isWhole = false;
    this.note = h("p", { class: "note" });
    this.output = h("pre", { class: "output", role: "group", tabIndex: 0, "aria-label": t("Result") });
    this.report = h("div", { class: "markdown report", role: "group", tabIndex: 0, "aria-label": t("Report") });
    this.cards = h("ol", { class: "document-cards" });
    this.images = h("ul", { class: "call-images" });
    this.more = h("button", { type: "button", class: "small", onclick: () => this.#showWhole() }, t("Show everything"));
    this.element = h(
      "div",
      { class: "outcome" },
      this.report,
      this.output,
      this.more,
      this.note,
      this.cards,
      this.images,
    );
    this.text = new MarkdownView(this.report);
  }

  /** @param {ToolCall} call */
  show(call) {
    if (call === this.call) return;
    const { documents, images, status, ref } = call;
    const report = reportOf(call);
    const note = searchNote(call);
    const output = report || note || documents.length ? "" : call.output;
    showText(this.note, note);
    this.note.hidden = !note;
    this.report.hidden = !report;
    if (report) this.text.show(report, { isLive: status === "running" });
    this.output.hidden = !output;
    if (output !== this.call?.output && !this.isWhole) showText(this.output, indentJson(output));
    this.more.hidden = !ref || !output || this.isWhole;
    if (documents !== this.call?.documents)
      this.cards.replaceChildren(...documents.map((source) => h("li", {}, documentCard(source))));
    this.cards.hidden = documents.length === 0;
    if (images !== this.call?.images)
      this.images.replaceChildren(...images.map((image) => h("li", {}, imageButton(image))));
    this.images.hidden = images.length === 0;
    this.call = call;
  }

  async #showWhole() {
    this.more.disabled = true;
    const text = await this.readWhole(this.call.ref ?? "");
    this.more.disabled = false;
    if (!text) return; // the failure has been reported
    this.isWhole = this.more.hidden = true;
    showText(this.output, indentJson(text));
    this.output.focus();
  }
}

/** Opens the image; its size is known before it is loaded. @param {ToolImageAnswer} image */
function imageButton({ id, name, width, height }) {
  return h(
    "button",
    { type: "button", class: "call-image", title: visibleText(name), onclick: () => openFile({ id, name }) },
    h("img", { src: thumbnailAddress(id), alt: name, width, height, loading: "lazy" }),
  );
}

/** What is read as text: the report of an agent tool, while it is written, then the returned one; a checked summary. @param {ToolCall} call */
function reportOf({ report, inside, output, status, name }) {
  const { result } = cardOf(name);
  if (result === "search") return safeSummaryText(output);
  const isAgent = inside.length > 0 || report !== "" || result === "report";
  return isAgent && (status === "completed" || status === "running") ? output || report : "";
}

/** A search over files of which some have no vectors yet says so. @param {ToolCall} call */
function searchNote({ name, output, documents }) {
  if (cardOf(name).result !== "search") return "";
  const isIndexing = documents.length > 0 ? output : noteIn(output);
  return isIndexing ? t("Some files were still being read or indexed: a later search may find more.") : "";
}

/** @param {string} text */
function indentJson(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(parseJson(text), null, 2);
  } catch {
    return text;
  }
}
