/** The elements of a rendered text that have views of their own: code, formulas, wide tables, citation chips. */

import { CodeBlock } from "./code_block.js";
import { Formula } from "./formula.js";

/** @import {Source} from "../types.js" */
/** @typedef {{element: HTMLElement, take: (fresh: Element) => boolean}} Place  take: show what this asks for, if it can */

export class EmbeddedViews {
  /** @param {((source: Source) => HTMLElement)|undefined} makeChip */
  constructor(makeChip) {
    this.makeChip = makeChip;
    /** @type {Source[]} */
    this.citations = [];
    /** @type {WeakMap<Node, Place>} */
    this.places = new WeakMap();
    this.isOne = this.isOne.bind(this);
  }

  /** @param {ChildNode} node fresh from the sanitiser @returns {ChildNode} */
  adopted(node) {
    if (!(node instanceof Element)) return node;
    const made = this.#made(node);
    if (made) return made.element;
    for (const inner of node.querySelectorAll("pre, .math, .citation")) {
      const place = this.#made(inner);
      if (place) inner.replaceWith(place.element);
    }
    return node;
  }

  /** @param {ChildNode} old @param {ChildNode} fresh */
  take(old, fresh) {
    const place = this.places.get(old);
    return place !== undefined && fresh instanceof Element && place.take(fresh);
  }

  /** Whether the node has such a view, on the page or newly rendered. @param {ChildNode} node */
  isOne(node) {
    return this.places.has(node) || (node instanceof Element && (node.matches("pre, .math") || this.#cited(node) !== undefined));
  }

  /** @param {Element} fresh @returns {Place|null} */
  #made(fresh) {
    const place = this.#make(fresh);
    if (place) this.places.set(place.element, place);
    return place;
  }

  /** @param {Element} fresh @returns {Place|null} */
  #make(fresh) {
    if (fresh.matches("pre")) return new CodeBlock(fresh);
    if (fresh.matches(".math")) return new Formula(fresh);
    const source = this.#cited(fresh);
    if (!source) return null;
    return { element: this.makeChip(source), take: (other) => isSame(source, this.#cited(other)) };
  }

  /** @param {Element} element @returns {Source|undefined} */
  #cited(element) {
    if (!this.makeChip || !element.classList.contains("citation")) return undefined;
    const number = Number(element.textContent.replace(/\D/g, ""));
    return this.citations.find((source) => source.number === number);
  }
}

/** @param {Source} one @param {Source|undefined} other */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
