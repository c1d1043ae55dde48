/** Computes the positions of a session's messages on the map of its tree. Pure. */

import { stratify, tree } from "d3-hierarchy";

/** @import {TreeNode} from "../types.js" */

/** The distances between neighbouring marks: across, and down a branch. */
export const STEP_X = 30;
export const STEP_Y = 36;

/**
 * @typedef {object} Place
 * @property {TreeNode} node
 * @property {number} x  of its middle
 * @property {number} y
 * @property {boolean} isCurrent  on the branch that the conversation shows
 * @property {Place|null} parent
 * @property {Place[]} children  oldest first; without summaries
 */

/**
 * @typedef {object} Layout
 * @property {Place[]} places  from the top down, each row from left to right; the root first
 * @property {Place|null} leaf  the end of the current branch
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {TreeNode[]} nodes of one session, the root among them
 * @returns {Layout}
 */
export function layOut(nodes) {
  if (nodes.length === 0) return { places: [], leaf: null, width: 0, height: 0 };
  const current = currentBranch(nodes);
  /** @type {import("d3-hierarchy").HierarchyPointNode<TreeNode>} */
  const root = tree()
    .nodeSize([STEP_X, STEP_Y])
    .separation(() => 1)(stratify().parentId((node) => node.parent)(nodes));
  const points = root.descendants();
  const left = points.reduce((least, { x }) => Math.min(least, x), 0) - STEP_X;
  const right = points.reduce((most, { x }) => Math.max(most, x), 0) + STEP_X;
  const height = points.reduce((most, { y }) => Math.max(most, y), 0) + 2 * STEP_Y;
  const places = connectPlaces(points, left, current);
  return { places, leaf: places.find(({ node }) => node.id === current.leaf) ?? null, width: right - left, height };
}

/** @param {import("d3-hierarchy").HierarchyPointNode<TreeNode>[]} points @param {number} left @param {{ids: Set<string>}} current */
function connectPlaces(points, left, { ids }) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const { data, x, y, parent } of points) {
    const above = parent ? places.get(parent.data.id) : null;
    /** @type {Place} */
    const place = { node: data, x: x - left, y: y + STEP_Y, isCurrent: ids.has(data.id), parent: above, children: [] };
    places.set(data.id, place);
    if (data.role !== "summary") above?.children.push(place);
  }
  return [...places.values()].sort((a, b) => a.y - b.y || a.x - b.x);
}

/** From the root along the latest children. @param {TreeNode[]} nodes */
function currentBranch(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Set<string>} */
  const ids = new Set();
  let at = nodes.find(({ parent }) => parent === null);
  let leaf = "";
  while (at && !ids.has(at.id)) {
    ids.add(at.id);
    leaf = at.id;
    at = byId.get(at.latest_child ?? "");
  }
  return { ids, leaf };
}

/**
 * Returns the mark to which an arrow key moves; null: none.
 * @param {Layout} layout @param {Place} from @param {string} key
 * @returns {Place|null}
 */
export function stepFrom(layout, from, key) {
  const steps = layout.places.filter(({ node }) => node.role !== "root");
  switch (key) {
    case "ArrowUp":
      return from.parent?.node.role === "root" ? null : from.parent;
    case "ArrowDown":
      return from.children.find(({ node }) => node.id === from.node.latest_child) ?? from.children[0] ?? null;
    case "ArrowLeft":
      return beside(steps, from, -1);
    case "ArrowRight":
      return beside(steps, from, 1);
    case "Home":
      return steps[0] ?? null;
    case "End":
      return layout.leaf;
    default:
      return null;
  }
}

/** The next one in the same row: a sibling, or on a neighbouring branch. @param {Place[]} steps @param {Place} from @param {1|-1} direction */
function beside(steps, from, direction) {
  const next = steps[steps.indexOf(from) + direction];
  return next && next.y === from.y ? next : null;
}

/**
 * Returns the marks that are (partly) between two heights; `places` are sorted by height.
 * @param {Place[]} places @param {number} top @param {number} bottom
 */
export function placesBetween(places, top, bottom) {
  return places.slice(firstAt(places, top), firstAt(places, bottom));
}

/** @param {Place[]} places @param {number} y @returns {number} the index of the first one at or below it */
function firstAt(places, y) {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle].y < y) low = middle + 1;
    else high = middle;
  }
  return low;
}
