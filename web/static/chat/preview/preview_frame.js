/**
 * A frame of another origin whose document shows or draws what an answer contains (web/page/preview.py), and the button
 * that shows it on the whole screen. What is in the frame is hostile: it gets nothing but that content, through a port
 * of the document that asked for it, and is watched from outside.
 */

import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { t } from "../i18n.js";

/** How often the document is asked whether it still runs. */
const TICK_MS = 5_000;
/** The document does not respond if it has left so many in a row unanswered; while it loads, the network may be slow. */
const MOST_UNANSWERED = 3;
const MOST_UNANSWERED_LOADING = 12;
/** What a document may say between two ticks: each word takes time of this page, whatever it is. */
const MOST_SAID = 200;

/**
 * @typedef {object} FrameEvents
 * @property {() => void} ready  the document has loaded; again if it has loaded itself anew
 * @property {(message: any) => void} received  what it says, in its own words
 * @property {(wasReady: boolean, isFlood: boolean) => void} lost  it never came, hangs, says too much, or is not there any more; it is asked nothing from now on
 */

export class PreviewFrame {
  /** @param {"html"|"diagram"} name of the document @param {string} title @param {FrameEvents} events */
  constructor(name, title, events) {
    this.events = events;
    // No allow-same-origin: its origin is opaque. No forms, popups, downloads, dialogs, nor navigation of this page.
    this.element = h("iframe", { title, referrerPolicy: "no-referrer", class: "preview-frame" });
    this.element.setAttribute("sandbox", "allow-scripts");
    this.element.src = `${document.body.dataset.preview}${name}/`;
    /** @type {MessagePort|null} */
    this.port = null;
    this.unanswered = 0;
    this.said = 0;
    this.onMessage = this.#onMessage.bind(this);
    addEventListener("message", this.onMessage);
    this.timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** @param {object} message */
  send(message) {
    this.port?.postMessage(message);
  }

  end() {
    removeEventListener("message", this.onMessage);
    clearInterval(this.timer);
    this.port?.close();
    this.port = null;
    this.element.remove();
  }

  /** Takes the port that ends with the document: what another one in its place says or hears is not ours. @param {MessageEvent} event */
  #onMessage(event) {
    const { source, origin, ports } = event;
    if (source === null || source !== this.element.contentWindow || this.#isFlood() || origin !== "null") return;
    // What it says is only read now: a large message takes long.
    const { data } = event;
    if (data?.kind !== "ready" || ports.length !== 1) return;
    this.port?.close();
    this.port = ports[0];
    this.port.onmessage = (answer) => this.#isFlood() || this.#onAnswer(answer.data);
    this.unanswered = 0;
    this.events.ready();
  }

  /** Counts one more message. Of too many, the frame is removed with all that it has still to say. */
  #isFlood() {
    this.said += 1;
    if (this.said <= MOST_SAID) return false;
    this.end();
    this.events.lost(true, true);
    return true;
  }

  /** @param {any} data */
  #onAnswer(data) {
    if (data?.kind === "pong") this.unanswered = 0;
    else this.events.received(data);
  }

  #tick() {
    if (!this.element.isConnected) return this.end();
    this.said = 0;
    // Browsers slow down what nobody sees.
    if (document.hidden) return undefined;
    const wasReady = this.port !== null;
    if (this.unanswered >= (wasReady ? MOST_UNANSWERED : MOST_UNANSWERED_LOADING)) {
      this.end();
      return this.events.lost(wasReady, false);
    }
    this.unanswered += 1;
    return this.send({ kind: "ping" });
  }
}

/** @param {HTMLElement} element */
export function fullScreenButton(element) {
  const label = t("Full screen");
  const show = () => element.requestFullscreen().catch(() => {});
  return iconButton(label, "fullScreen", show, { hidden: !document.fullscreenEnabled });
}
