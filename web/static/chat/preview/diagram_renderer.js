/**
 * Draws diagrams, one after another, in one hidden frame that exists while there is something to draw. A drawing that hangs
 * ends with its frame.
 */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { PreviewFrame } from "./preview_frame.js";

/** @typedef {{light: string, dark: string, title: string}|{problem: "time"|"load"|"source", line?: number}} Drawing  SVG for each theme, and what the author calls it, or why there is none */
/** @typedef {{source: string, done: (drawing: Drawing) => void}} Job */

/** The newest drawings, by their source: a chat that is opened again draws nothing anew. */
const MOST_KEPT = 40;
/** A frame that is idle for so long is removed, with the memory that the renderer takes. */
const IDLE_MS = 30_000;
/** A larger one is nobody's drawing. */
const LONGEST_SVG = 3_000_000;

/** @type {Map<string, Promise<Drawing>>} */
const kept = new Map();
/** The first of them is being drawn. @type {Job[]} */
const jobs = [];
/** @type {PreviewFrame|null} */
let frame = null;
let isReady = false;
let idleTimer = 0;

/** @param {string} source @returns {Promise<Drawing>} */
export function drawDiagram(source) {
  const known = kept.get(source);
  if (known) return known;
  const drawing = new Promise((/** @type {(drawing: Drawing) => void} */ done) => {
    jobs.push({ source, done });
    if (jobs.length === 1) drawFirst();
  });
  kept.set(source, drawing);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  // What failed by chance is tried again.
  void drawing.then((made) => "problem" in made && made.problem !== "source" && kept.delete(source));
  return drawing;
}

function drawFirst() {
  clearTimeout(idleTimer);
  if (jobs.length === 0) {
    idleTimer = setTimeout(close, IDLE_MS);
  } else if (frame === null) {
    open();
  } else if (isReady) {
    frame.send({ kind: "draw", source: jobs[0].source });
  }
}

function open() {
  isReady = false;
  frame = new PreviewFrame("diagram", t("Diagram"), { ready, received, lost });
  document.body.append(h("div", { class: "drawing-room", inert: true }, frame.element));
}

function close() {
  const place = frame?.element.parentElement;
  frame?.end();
  place?.remove();
  frame = null;
}

function ready() {
  isReady = true;
  drawFirst();
}

/** @param {any} message from the frame, which may say anything */
function received(message) {
  if (message?.kind !== "drawn") return;
  settle(toDrawing(message));
  drawFirst();
}

/** @param {boolean} wasReady */
function lost(wasReady) {
  document.querySelector(".drawing-room")?.remove();
  frame = null;
  if (wasReady) settle({ problem: "time" });
  else while (jobs.length > 0) settle({ problem: "load" });
  drawFirst();
}

/** @param {Drawing} drawing */
function settle(drawing) {
  jobs.shift()?.done(drawing);
}

/** @param {any} message @returns {Drawing} */
function toDrawing({ light, dark, title, problem, message }) {
  if ([light, dark].every((svg) => typeof svg === "string" && svg.length <= LONGEST_SVG))
    return { light, dark, title: String(title) };
  if (problem === "load") return { problem };
  const line = Number(/\bline:? (\d{1,5})\b/i.exec(String(message ?? ""))?.[1]);
  return line ? { problem: "source", line } : { problem: "source" };
}
