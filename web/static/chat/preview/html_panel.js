/** The panel below a block of HTML or SVG that shows it in a frame. */

import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { t } from "../i18n.js";
import { fullScreenButton, PreviewFrame } from "./preview_frame.js";

/** How often a document may load itself anew before it is closed. */
const MOST_LOADS = 50;
/** Puts a drawing into the middle, as large as it is, or as fits. */
const SVG_STYLE =
  "html,body{height:100%;margin:0}body{display:grid;place-items:center}svg{max-width:100%;max-height:100%}";

export class HtmlPanel {
  /** @param {{block: HTMLElement, text: string, isSvg: boolean, changed: (isShown: boolean) => void}} what changed: told when it is opened and closed */
  constructor({ block, text, isSvg, changed }) {
    this.block = block;
    this.changed = changed;
    this.html = isSvg ? `<!doctype html><style>${SVG_STYLE}</style>${text}` : text;
    this.isShown = false;
    /** @type {PreviewFrame|null} */
    this.frame = null;
    this.place = h("div", { class: "preview-place" });
    this.hint = h("p", { class: "preview-hint", role: "status", hidden: true });
    const name = h("span", {}, t("Preview"));
    const buttons = h(
      "span",
      { class: "buttons" },
      iconButton(t("Reload"), "retry", () => this.#load()),
      fullScreenButton(this.place),
      iconButton(t("Close"), "close", () => this.hide()),
    );
    this.element = h(
      "section",
      { class: "preview-panel", "aria-label": t("Preview") },
      h("div", { class: "preview-bar" }, name, buttons),
      this.place,
      this.hint,
    );
  }

  show() {
    this.isShown = true;
    this.block.append(this.element);
    this.#load();
    this.changed(true);
    this.element.scrollIntoView({ block: "nearest" });
  }

  hide() {
    this.end();
    this.changed(false);
  }

  end() {
    this.isShown = false;
    this.frame?.end();
    this.frame = null;
    this.element.remove();
  }

  #load() {
    this.frame?.end();
    this.hint.hidden = true;
    this.loads = 0;
    this.frame = new PreviewFrame("html", t("Preview"), {
      ready: () => this.#fill(),
      received: (message) => this.#hear(message),
      lost: (wasReady, isFlood) => this.#lose(lossText(wasReady, isFlood)),
    });
    this.place.replaceChildren(this.frame.element);
  }

  /** Gives the document its content, each time that it has loaded itself. */
  #fill() {
    this.loads += 1;
    if (this.loads <= MOST_LOADS) this.frame.send({ kind: "show", html: this.html });
    else this.#lose(t("The preview does not respond any more, so it was closed."));
  }

  /** @param {any} message */
  #hear(message) {
    if (message?.kind === "blocked") this.#say(t("A preview cannot reach the network, so parts may be missing."));
  }

  /** @param {string} why */
  #lose(why) {
    this.frame?.end();
    this.frame = null;
    this.#say(why);
  }

  /** @param {string} text */
  #say(text) {
    this.hint.textContent = text;
    this.hint.hidden = false;
  }
}

/** @param {boolean} wasReady @param {boolean} isFlood */
function lossText(wasReady, isFlood) {
  if (isFlood) return t("The preview sent too many messages, so it was closed.");
  return wasReady
    ? t("The preview does not respond any more, so it was closed.")
    : t("The preview could not be loaded.");
}
