/** A diagram in place of its source. The picture is an image, in which nothing runs and nothing is loaded. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { drawDiagram } from "./diagram_renderer.js";
import { fullScreenButton } from "./full_screen.js";

/** @import {Drawing} from "./diagram_renderer.js" */

export class DiagramView {
  /** @param {{block: HTMLElement, code: HTMLElement, text: string, changed: (isShown: boolean) => void}} what changed: told when it takes the place of the code, and when it does not any more */
  constructor({ block, code, text, changed }) {
    this.code = code;
    this.block = block;
    this.text = text;
    this.changed = changed;
    this.isShown = false;
    this.isEnded = false;
    this.picture = h("div", { class: "diagram", tabIndex: 0, role: "group", "aria-label": t("Diagram"), hidden: true });
    this.larger = fullScreenButton(this.picture);
    this.hint = h("p", { class: "preview-hint", role: "status", hidden: true });
  }

  async show() {
    this.isShown = true;
    this.hint.hidden = true;
    if (!this.picture.isConnected) this.code.before(this.picture, this.hint);
    const drawing = this.picture.firstChild ? null : await drawDiagram(this.text);
    if (this.isEnded || !this.isShown) return;
    if (drawing && "problem" in drawing) this.#fail(drawing);
    else this.#reveal(drawing);
  }

  hide() {
    this.isShown = false;
    this.#swap();
  }

  end() {
    this.isEnded = true;
    this.picture.remove();
    this.hint.remove();
    this.larger.remove();
  }

  /** @param {Drawing|null} drawing null: it is there already */
  #reveal(drawing) {
    if (drawing && "light" in drawing) {
      const { light, dark, title } = drawing;
      this.picture.replaceChildren(image(light, title, "of-light"), image(dark, title, "of-dark"));
    }
    if (!this.larger.isConnected) this.block.querySelector(".preview-toggle").before(this.larger);
    this.#swap();
  }

  #swap() {
    this.picture.hidden = !this.isShown;
    this.code.hidden = this.isShown;
    this.larger.hidden = !this.isShown || !document.fullscreenEnabled;
    this.changed(this.isShown);
  }

  /** @param {{problem: string, line?: number}} drawing */
  #fail(drawing) {
    this.isShown = false;
    this.hint.textContent = problemText(drawing);
    this.hint.hidden = false;
    this.changed(false);
  }
}

/** @param {{problem: string, line?: number}} drawing */
function problemText({ problem, line }) {
  if (problem === "time") return t("Drawing this diagram took too long.");
  if (problem === "load") return t("The preview could not be loaded.");
  if (line) return t("This diagram cannot be drawn: its code has an error near line %(line)s.", { line });
  return t("This diagram cannot be drawn: its code has an error.");
}

/** @param {string} svg @param {string} title @param {string} theme */
function image(svg, title, theme) {
  return h("img", {
    class: theme,
    src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
    alt: title || t("Diagram"),
    decoding: "async",
  });
}
