/**
 * A diagram in place of its source. The picture is an image, in which nothing runs and nothing is loaded. Diagrams are
 * drawn one after another, in one hidden frame that exists while there is something to draw: a drawing that hangs ends
 * with its frame.
 */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { fullScreenButton, PreviewFrame } from "./preview_frame.js";

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
function drawDiagram(source) {
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
