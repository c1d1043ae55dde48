/**
 * The map of a session's tree: a mark per message, lines between them. Only visible marks are in the DOM, so a
 * tree of any size scrolls smoothly. One mark at a time is in the Tab order; arrow keys move from it.
 */

import { h, setChildren } from "../elements/element.js";
import { t } from "../i18n.js";
import { STEP_Y, placesBetween, layOut, stepFrom } from "./tree_layout.js";

/** @import {TreeNode} from "../types.js" */
/** @import {Layout, Place} from "./tree_layout.js" */

const SVG = "http://www.w3.org/2000/svg";
/** Drawn above and below the visible part. */
const MARGIN_PX = 400;

export class TreeMap {
  /**
   * @param {object} actions
   * @param {(place: Place|null) => void} actions.looked  at this message; null: at none any more
   * @param {(place: Place) => void} actions.chosen
   */
  constructor(actions) {
    this.actions = actions;
    /** @type {Layout} */
    this.layout = layOut([]);
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {Map<string, HTMLButtonElement>} */
    this.marks = new Map();
    /** @type {Place[]} what was drawn last */
    this.seen = [];
    /** @type {string|null} the one in the Tab order */
    this.at = null;
    this.lines = document.createElementNS(SVG, "svg");
    this.lines.setAttribute("aria-hidden", "true");
    this.items = h("div", { class: "marks", role: "tree", "aria-label": t("Messages") });
    this.ground = h("div", { class: "ground" }, this.lines, this.items);
    this.element = h("div", { class: "tree-map", onscroll: () => this.#drawSoon() }, this.ground);
    this.items.addEventListener("keydown", (event) => this.#key(event));
    this.frame = 0;
  }

  /** @param {TreeNode[]} nodes */
  show(nodes) {
    const isFirst = this.layout.places.length === 0;
    this.layout = layOut(nodes);
    this.places = new Map(this.layout.places.map((place) => [place.node.id, place]));
    if (!this.#place(this.at)) this.at = this.layout.leaf?.node.id ?? null;
    // Marks that are kept keep the focus.
    for (const [id, mark] of this.marks)
      this.places.has(id) ? this.#dress(mark, this.places.get(id)) : this.marks.delete(id);
    this.ground.style.width = `${this.layout.width}px`;
    this.ground.style.height = `${this.layout.height}px`;
    this.lines.setAttribute("viewBox", `0 0 ${this.layout.width} ${this.layout.height}`);
    this.seen = [];
    if (isFirst) this.#bringIntoSight(this.layout.leaf);
    this.#draw();
  }

  /** Focuses the mark in the Tab order. */
  focus() {
    this.#focus(this.#place(this.at));
  }

  /** @param {string|null} id */
  #place(id) {
    return this.places.get(id ?? "") ?? null;
  }

  #drawSoon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { scrollTop, clientHeight } = this.element;
    const seen = placesBetween(this.layout.places, scrollTop - MARGIN_PX, scrollTop + clientHeight + MARGIN_PX);
    const kept = this.#place(this.at);
    if (seen[0] === this.seen[0] && seen.at(-1) === this.seen.at(-1) && this.marks.has(this.at)) return;
    this.seen = seen;
    this.#drawLines(seen);
    // The mark with the focus, or next to receive it, stays in the DOM even if it is not visible.
    const shown = kept && !seen.includes(kept) ? [...seen, kept] : seen;
    setChildren(
      this.items,
      shown.filter(({ node }) => node.role !== "root").map((place) => this.#mark(place)),
    );
    const ids = new Set(shown.map(({ node }) => node.id));
    for (const id of this.marks.keys()) if (!ids.has(id)) this.marks.delete(id);
  }

  /** @param {Place} place */
  #mark(place) {
    const { id } = place.node;
    return this.marks.get(id) ?? this.#dress(this.#newMark(id), place);
  }

  /** @param {HTMLButtonElement} mark @param {Place} place */
  #dress(mark, place) {
    const { id } = place.node;
    mark.className = lookOf(place);
    mark.style.left = `${place.x}px`;
    mark.style.top = `${place.y}px`;
    mark.tabIndex = id === this.at ? 0 : -1;
    mark.setAttribute("aria-label", nameOf(place));
    mark.setAttribute("aria-level", String(Math.round(place.y / STEP_Y) - 1));
    mark.setAttribute("aria-selected", String(id === this.layout.leaf?.node.id));
    return mark;
  }

  /** @param {string} id */
  #newMark(id) {
    const mark = h("button", {
      type: "button",
      role: "treeitem",
      onclick: () => this.actions.chosen(this.#place(id)),
      onfocus: () => this.#onFocus(id),
      onpointerenter: () => this.actions.looked(this.#place(id)),
      onpointerleave: () =>
        this.actions.looked(this.#place(this.items.contains(document.activeElement) ? this.at : null)),
    });
    this.marks.set(id, mark);
    return mark;
  }

  /** @param {string} id */
  #onFocus(id) {
    const before = this.marks.get(this.at);
    if (before) before.tabIndex = -1;
    this.at = id;
    this.marks.get(id).tabIndex = 0;
    this.actions.looked(this.#place(id));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const from = this.#place(this.at);
    const to = from && stepFrom(this.layout, from, event.key);
    if (!to) return;
    event.preventDefault();
    this.#focus(to);
  }

  /** @param {Place|null} place */
  #focus(place) {
    if (!place) return;
    this.#bringIntoSight(place);
    this.#draw();
    this.marks.get(place.node.id)?.focus({ preventScroll: true });
  }

  /** @param {Place|null} place */
  #bringIntoSight(place) {
    if (!place) return;
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.element;
    const isSeen = place.y > scrollTop + STEP_Y && place.y < scrollTop + clientHeight - STEP_Y;
    if (!isSeen) this.element.scrollTop = place.y - clientHeight / 2;
    const isBeside = place.x < scrollLeft + STEP_Y || place.x > scrollLeft + clientWidth - STEP_Y;
    if (isBeside) this.element.scrollLeft = place.x - clientWidth / 2;
  }

  /** Draws all lines as three paths; those of the current branch are drawn over the others. @param {Place[]} places */
  #drawLines(places) {
    const drawn = places.filter(({ parent }) => parent);
    this.lines.replaceChildren(
      ...places.filter(({ parent }) => !parent).map(begin),
      path(
        drawn.filter((place) => place.node.role === "summary"),
        "summaries",
      ),
      path(
        drawn.filter((place) => !place.isCurrent && place.node.role !== "summary"),
        "others",
      ),
      path(
        drawn.filter((place) => place.isCurrent),
        "current",
      ),
    );
  }
}

/** @param {Place[]} places each with its parent @param {string} className */
function path(places, className) {
  const element = document.createElementNS(SVG, "path");
  element.setAttribute("class", className);
  element.setAttribute("d", places.map(line).join(""));
  return element;
}

/** The mark of the root. @param {Place} root */
function begin({ x, y }) {
  const dot = document.createElementNS(SVG, "circle");
  for (const [name, value] of Object.entries({ class: "begin", cx: x, cy: y, r: 4 }))
    dot.setAttribute(name, String(value));
  return dot;
}

/** @param {Place} place */
function line({ x, y, parent }) {
  const middle = (parent.y + y) / 2;
  return x === parent.x
    ? `M${x} ${parent.y}V${y}`
    : `M${parent.x} ${parent.y}C${parent.x} ${middle} ${x} ${middle} ${x} ${y}`;
}

/** @param {Place} place */
function lookOf({ node, isCurrent }) {
  return `mark of-${node.role} ${node.status}${isCurrent ? " current" : ""}`;
}

/** The accessible name of a mark. @param {Place} place */
function nameOf({ node, isCurrent, parent }) {
  const versions = parent?.children ?? [];
  const at = versions.findIndex((version) => version.node.id === node.id) + 1;
  const parts = [
    {
      root: "",
      user: t("Question"),
      assistant: t("Answer by %(model)s", { model: node.model ?? "?" }),
      summary: t("Summary"),
    }[node.role],
    versions.length > 1 && at > 0 && t("version %(at)s of %(all)s", { at, all: versions.length }),
    node.edited_from !== undefined && t("Edited by you"),
    node.status === "failed" && t("failed"),
    isCurrent && t("on the current branch"),
  ];
  return parts.filter(Boolean).join(", ");
}
