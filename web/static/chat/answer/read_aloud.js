/** Reads an answer aloud by the browser's voice; one at a time, until it is stopped or the chat is left. */

import { readAddress } from "../frame/address.js";

/** What is seen and not said. */
const UNSAID = ".code, pre, button, svg, .citation-chip, annotation, [hidden]";
/** Between their texts the voice pauses. */
const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, dt, dd, blockquote, div";

/** The answer that is being read. @type {HTMLElement|null} */
let reading = null;
/** The chat it belongs to. @type {string|null} */
let chat = null;

export const canReadAloud = () => "speechSynthesis" in globalThis && "SpeechSynthesisUtterance" in globalThis;

/** @param {HTMLElement} answer */
export const isReading = (answer) => reading === answer;

/** Starts to read an answer, or stops if it is the one being read. @param {HTMLElement} answer */
export function toggleReading(answer) {
  const wasReading = isReading(answer);
  stopReading();
  if (wasReading) return;
  listen();
  [reading, chat] = [answer, readAddress(location.hash).session];
  // One utterance per block: some browsers end long ones early.
  const texts = [...answer.querySelectorAll(".narration:not([hidden]), .body")].flatMap((part) => spokenTexts(part));
  const { lang } = /** @type {HTMLElement} */ (answer.closest("[lang]"));
  const utterances = texts.map((text) => Object.assign(new SpeechSynthesisUtterance(text), { lang }));
  const ended = () => {
    if (isReading(answer)) reading = null;
  };
  if (utterances.length === 0) ended();
  utterances.at(-1)?.addEventListener("end", ended);
  for (const utterance of utterances) utterance.addEventListener("error", ended);
  for (const utterance of utterances) speechSynthesis.speak(utterance);
}

export function stopReading() {
  if (reading) speechSynthesis.cancel();
  reading = null;
}

let isListening = false;

/** A voice goes on when the page is left, unless it is stopped. */
function listen() {
  if (isListening) return;
  isListening = true;
  addEventListener("pagehide", stopReading);
  addEventListener("hashchange", () => readAddress(location.hash).session !== chat && stopReading());
}

/** The texts of the blocks, as they are said: without code and buttons. @param {Element} element @returns {string[]} */
function spokenTexts(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {{block: Element|null, text: string}[]} */
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest(UNSAID)) continue;
    const block = parent.closest(BLOCKS);
    if (texts.at(-1)?.block === block) texts.at(-1).text += node.nodeValue;
    else texts.push({ block, text: node.nodeValue ?? "" });
  }
  return texts.map(({ text }) => text.trim().replace(/\s+/g, " ")).filter(Boolean);
}
