/** The views of the elements of a rendered text that draw themselves: code, formulas, tables, citation chips, signs of footnotes. */

import { CodeBlock } from "./code_block.js";
import { FOOTNOTE_SIGNS, FootnoteLink } from "./footnote_link.js";
import { Formula } from "./formula.js";
import { TableView } from "./table_view.js";
import { ADDRESS_OF_LINK } from "../state/citation_numbers.js";

/** @import {Source} from "../types.js" */
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
