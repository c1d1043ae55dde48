/** What a block of code in an answer offers beside its text: a diagram is drawn, HTML and SVG are shown on demand. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

/** @typedef {"diagram"|"html"|"svg"} PreviewKind */

/** @type {Record<string, PreviewKind>} */
const KINDS = { mermaid: "diagram", html: "html", htm: "html", xhtml: "html", svg: "svg" };
/** Characters; a longer text is shown as code alone. @type {Record<PreviewKind, number>} */
export const LONGEST = { diagram: 50_000, html: 500_000, svg: 500_000 };

/** @param {string} language in lower case @param {string} text @returns {PreviewKind|null} null: there is nothing to show but code */
export function previewKind(language, text) {
  if (language === "xml" && /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]/.test(text)) return "svg";
  return Object.hasOwn(KINDS, language) ? KINDS[language] : null;
}

export class BlockPreview {
  /** @param {{block: HTMLElement, code: HTMLElement, buttons: HTMLElement}} places the block, its code, and where its buttons are */
  constructor({ block, code, buttons }) {
    this.places = { block, code };
    this.buttons = buttons;
    this.label = t("Preview");
    this.toggle = h("button", { type: "button", class: "icon-button preview-toggle", onclick: () => this.#toggle() });
    /** @type {PreviewKind|null} */
    this.kind = null;
    this.text = "";
    /** @type {import("./diagram_view.js").DiagramView|import("./html_panel.js").HtmlPanel|null} */
    this.view = null;
    /** Reports when a diagram comes near the screen, where it is drawn. @type {IntersectionObserver|null} */
    this.nearing = null;
  }

  /** @param {{text: string, language: string, isWhole: boolean}} code isWhole: nothing more is written */
  show({ text, language, isWhole }) {
    const isOffered = isWhole && document.body.dataset.preview && text.trim();
    const kind = isOffered ? previewKind(language, text) : null;
    if (kind === this.kind && text === this.text) return undefined;
    [this.kind, this.text] = [kind, text];
    this.#end();
    if (kind === null) return this.toggle.remove();
    this.buttons.prepend(this.toggle);
    const isTooLong = text.length > LONGEST[kind];
    this.toggle.disabled = isTooLong;
    this.toggle.replaceChildren(icon(kind === "html" ? "play" : "image"));
    this.#name(isTooLong ? t("Too long for a preview") : this.label);
    if (kind === "diagram" && !isTooLong) this.#drawWhenNear();
    return undefined;
  }

  #end() {
    this.nearing?.disconnect();
    this.view?.end();
    this.view = null;
    this.places.code.hidden = false;
    this.toggle.removeAttribute("aria-pressed");
    this.toggle.removeAttribute("aria-expanded");
  }

  #drawWhenNear() {
    this.nearing = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        this.nearing.disconnect();
        void this.#open();
      },
      { rootMargin: "600px" },
    );
    this.nearing.observe(this.places.block);
  }

  #toggle() {
    this.nearing?.disconnect();
    if (this.view === null) void this.#open();
    else if (this.view.isShown) this.view.hide();
    else this.view.show();
  }

  async #open() {
    const { kind, text } = this;
    this.#name(this.label);
    try {
      const view = await this.#build();
      // Meanwhile the text may have changed, or another click been faster.
      if (this.view !== null || this.kind !== kind || this.text !== text) return;
      this.view = view;
      void view.show();
    } catch {
      // Its module was not loaded: offline, say.
      this.#name(t("The preview could not be loaded."));
    }
  }

  /** @returns {Promise<import("./diagram_view.js").DiagramView|import("./html_panel.js").HtmlPanel>} */
  async #build() {
    const what = { ...this.places, text: this.text, isSvg: this.kind === "svg" };
    if (this.kind === "diagram") {
      const { DiagramView } = await import("./diagram_view.js");
      return new DiagramView({ ...what, changed: (isShown) => this.#toggled("aria-pressed", isShown) });
    }
    const { HtmlPanel } = await import("./html_panel.js");
    return new HtmlPanel({ ...what, changed: (isShown) => this.#toggled("aria-expanded", isShown) });
  }

  /** @param {"aria-pressed"|"aria-expanded"} state @param {boolean} isShown */
  #toggled(state, isShown) {
    this.toggle.setAttribute(state, String(isShown));
    // The panel's own button takes it away.
    if (!isShown && document.activeElement === document.body) this.toggle.focus({ preventScroll: true });
  }

  /** @param {string} name */
  #name(name) {
    this.toggle.setAttribute("aria-label", name);
    this.toggle.title = name;
  }
}
