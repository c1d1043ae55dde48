/** The views of the elements of a rendered text that draw themselves: code, formulas, tables, citation chips, signs of footnotes. */

import { CodeBlock } from "./code_block.js";
import { Formula } from "./formula.js";
import { ADDRESS_OF_LINK } from "../state/answer_text.js";
import { bringIntoSight, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { copyButton } from "../elements/copy_button.js";
import { patchNodes } from "../elements/patch.js";
import { csvOf, tabbedOf } from "./exports.js";

/** @import {Source} from "../types.js" */
/** @import {EmbeddedNodes} from "../elements/patch.js" */

/** @typedef {{element: HTMLElement, tryUpdate: (fresh: Element) => boolean}} EmbeddedView  tryUpdate: shows a newly rendered element; false if it is of another kind */

export class EmbeddedViews {
  /** @param {((source: Source) => HTMLElement)|undefined} makeChip */
  constructor(makeChip) {
    this.makeChip = makeChip;
    /** @type {Source[]} */
    this.citations = [];
    /** @type {WeakMap<Node, EmbeddedView>} */
    this.views = new WeakMap();
    this.isEmbedded = this.isEmbedded.bind(this);
  }

  /** @param {ChildNode} node fresh from the sanitiser @returns {ChildNode} */
  adopt(node) {
    if (!(node instanceof Element)) return node;
    // Before a table takes what is in it.
    const all = [...node.querySelectorAll(`pre, .math, .citation, .table, ${FOOTNOTE_SIGNS}`)];
    const element = this.#createView(node)?.element ?? node;
    for (const inner of all) {
      const view = this.#createView(inner);
      if (view) inner.replaceWith(view.element);
    }
    return element;
  }

  /** @param {ChildNode} old @param {ChildNode} fresh */
  tryUpdate(old, fresh) {
    const view = this.views.get(old);
    return view !== undefined && fresh instanceof Element && view.tryUpdate(fresh);
  }

  /** Returns whether the node has such a view, on the page or newly rendered. @param {ChildNode} node */
  isEmbedded(node) {
    return (
      this.views.has(node) ||
      (node instanceof Element &&
        (node.matches(`pre, .math, ${FOOTNOTE_SIGNS}`) || this.#citedSource(node) !== undefined))
    );
  }

  /** @param {Element} fresh @returns {EmbeddedView|null} */
  #createView(fresh) {
    const view = this.#buildView(fresh);
    if (view) this.views.set(view.element, view);
    return view;
  }

  /** @param {Element} fresh @returns {EmbeddedView|null} */
  #buildView(fresh) {
    if (fresh.matches("pre")) return new CodeBlock(fresh);
    if (fresh.matches(".math")) return new Formula(fresh);
    if (fresh.matches(FOOTNOTE_SIGNS)) return new FootnoteLink(fresh);
    if (fresh.matches(".table")) return new TableView(fresh, this);
    const source = this.#citedSource(fresh);
    if (!source) return null;
    return { element: this.makeChip(source), tryUpdate: (other) => isSame(source, this.#citedSource(other)) };
  }

  /** @param {Element} element @returns {Source|undefined} */
  #citedSource(element) {
    if (!this.makeChip || !element.classList.contains("citation")) return undefined;
    const number = Number(element.textContent.replace(/\D/g, ""));
    const source = this.citations.find((source) => source.number === number);
    // Numbers alone stand for sources without an address only: other text may contain them too.
    return element.tagName === "SPAN" && ADDRESS_OF_LINK.test(source?.url ?? "") ? undefined : source;
  }
}

/** Whether their chips are the same: one that stays keeps focus when the stored answer replaces the streamed one. @param {Source} one @param {Source|undefined} other */
function isSame(one, other) {
  return one === other || (other !== undefined && key(one) === key(other));
}

/** @param {Source} source */
const key = ({ number, place, document_id, title, url }) =>
  JSON.stringify([number, place, document_id, title, url || ""]);

// The sign of a footnote: in the text it leads to the note, at the note back to the text.
const REFERENCE = "footnote-reference";
const MARK = "footnote-mark";
const FOOTNOTE_SIGNS = `sup.${REFERENCE}, sup.${MARK}`;

class FootnoteLink {
  /** @param {Element} fresh one of FOOTNOTE_SIGNS */
  constructor(fresh) {
    this.label = fresh.textContent;
    this.isReference = fresh.classList.contains(REFERENCE);
    const name = this.isReference
      ? t("Footnote %(label)s", { label: this.label })
      : t("Footnote %(label)s: back to the text", { label: this.label });
    const button = h("button", { type: "button", "aria-label": name, onclick: () => this.#follow() }, this.label);
    this.element = h("sup", { class: fresh.className }, button);
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    return (
      fresh.matches(FOOTNOTE_SIGNS) && fresh.className === this.element.className && fresh.textContent === this.label
    );
  }

  #follow() {
    const place = this.element.closest("article") ?? this.element.closest(".markdown");
    const other = [...place.querySelectorAll(`.${this.isReference ? MARK : REFERENCE} > button`)].find(
      ({ textContent }) => textContent.toLowerCase() === this.label.toLowerCase(),
    );
    if (!(other instanceof HTMLElement)) return;
    other.closest("details")?.setAttribute("open", "");
    other.focus({ preventScroll: true });
    bringIntoSight(other, { block: "center" });
  }
}

/** The view of a table: what is in it, which may grow, and buttons that copy it. */
class TableView {
  /** @param {Element} fresh the frame of a table, from the sanitiser; its children are taken @param {EmbeddedNodes} views of what is in cells */
  constructor(fresh, views) {
    this.views = views;
    this.frame = /** @type {Element} */ (fresh.cloneNode(false));
    this.frame.append(...fresh.childNodes);
    const buttons = [
      copyButton(t("Copy table"), () => tabbedOf(this.#rows())),
      copyButton(t("Copy as CSV"), () => csvOf(this.#rows()), "table"),
    ];
    this.element = h("div", { class: "table-block" }, this.frame, h("div", { class: "buttons" }, ...buttons));
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    if (!fresh.matches(".table")) return false;
    patchNodes({ parent: this.element, nodes: [this.frame], before: null }, [fresh], this.views);
    return true;
  }

  #rows() {
    return [...this.frame.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
  }
}
