/** The collapsed reasoning of a model with its duration. Rendered only when it is opened. */

import { duration } from "../elements/formats.js";
import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { MarkdownView } from "../markdown/markdown.js";

const SECOND_MS = 1000;

export class ReasoningView {
  constructor() {
    this.summary = h("span", { class: "line" });
    this.body = h("div", { class: "markdown" });
    this.fold = h(
      "details",
      { class: "reasoning", hidden: true, ontoggle: () => this.#showText() },
      h("summary", {}, icon("thought"), this.summary, icon("chevronDown")),
      this.body,
    );
    this.element = this.fold;
    this.text = new MarkdownView(this.body);
    /** When thinking was first seen here. @type {number|undefined} */
    this.since = undefined;
    this.timer = 0;
    this.shown = { text: "", ms: /** @type {number|null} */ (null), isThinking: false };
  }

  /** @param {{text: string, ms: number|null, isThinking: boolean}} shown ms: how long it took, where that is known */
  show({ text, ms, isThinking }) {
    this.shown = { text, ms, isThinking };
    assign(this.fold, { hidden: !text });
    this.fold.classList.toggle("thinking", isThinking);
    if (isThinking) this.#count();
    else this.#stopCounting();
    this.#showLine();
    this.#showText();
  }

  #count() {
    this.since ??= performance.now();
    this.timer ||= setInterval(() => (this.element.isConnected ? this.#showLine() : this.#stopCounting()), SECOND_MS);
  }

  #stopCounting() {
    clearInterval(this.timer);
    this.timer = 0;
  }

  #showLine() {
    const { ms, isThinking } = this.shown;
    const line = isThinking ? this.#elapsedText() : thought(ms);
    if (this.summary.textContent !== line) this.summary.textContent = line;
  }

  #elapsedText() {
    const seconds = Math.floor((performance.now() - this.since) / SECOND_MS);
    return seconds < 1 ? t("Thinking…") : t("Thinking… %(time)s", { time: t("%(seconds)s s", { seconds }) });
  }

  #showText() {
    if (this.fold.open) this.text.show(this.shown.text, { isLive: this.shown.isThinking });
  }
}

/** @param {number|null} ms */
function thought(ms) {
  if (ms === null) return t("Reasoning");
  if (ms < SECOND_MS) return t("Thought for a moment");
  return t("Thought for %(time)s", { time: duration(Math.round(ms / SECOND_MS) * SECOND_MS).replace(/[.,]0/, "") });
}
