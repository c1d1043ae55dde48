/**
 * Dictation: what the browser hears is put at the caret, while a button is on. Browsers without speech recognition show
 * no button. Some send what they hear to a service of their maker, which the button says.
 */

import { t } from "../i18n.js";

/** Failures that end what was begun, in words; others are silence, or the end of it. @type {Record<string, () => string>} */
const PROBLEMS = {
  "not-allowed": () => t("The browser does not let this page hear you. Allow the microphone in its settings."),
  "service-not-allowed": () => t("The browser does not let this page hear you. Allow the microphone in its settings."),
  "audio-capture": () => t("No microphone was found."),
  network: () => t("The browser's speech recognition cannot be reached."),
};

/** @returns {any} the constructor of this browser */
const recognition = () =>
  /** @type {any} */ (globalThis).SpeechRecognition ?? /** @type {any} */ (globalThis).webkitSpeechRecognition;

export class Dictation {
  /**
   * @param {HTMLButtonElement} button
   * @param {HTMLTextAreaElement} field
   * @param {(error: any) => void} failed
   */
  constructor(button, field, failed) {
    this.button = button;
    this.field = field;
    this.failed = failed;
    /** While it listens. @type {any} */
    this.listening = null;
    button.hidden = !recognition();
    button.addEventListener("click", () => (this.listening ? this.stop() : this.#start()));
    addEventListener("pagehide", () => this.stop());
    this.#show();
  }

  /** What was heard so far may still arrive, unless the text is another one by then. */
  stop() {
    this.listening?.abort();
    this.#ended();
  }

  #start() {
    const heard = new (recognition())();
    Object.assign(heard, { continuous: true, interimResults: false, lang: document.documentElement.lang });
    heard.addEventListener("result", (/** @type {any} */ event) => this.#onResult(event));
    heard.addEventListener(
      "error",
      (/** @type {any} */ { error }) => error in PROBLEMS && this.failed({ message: PROBLEMS[error]() }),
    );
    heard.addEventListener("end", () => this.listening === heard && this.#ended());
    this.listening = heard;
    heard.start();
    this.field.focus();
    this.#show();
  }

  /** @param {any} event with the results from resultIndex on */
  #onResult({ results, resultIndex }) {
    for (const result of [...results].slice(resultIndex)) if (result.isFinal) this.#insert(result[0].transcript.trim());
  }

  /** @param {string} text */
  #insert(text) {
    const { value, selectionStart, selectionEnd } = this.field;
    if (!text) return;
    const gap = selectionStart > 0 && !/\s$/.test(value.slice(0, selectionStart)) ? " " : "";
    this.field.setRangeText(gap + text, selectionStart, selectionEnd, "end");
    this.field.dispatchEvent(new Event("input"));
  }

  #ended() {
    this.listening = null;
    this.#show();
  }

  #show() {
    const isOn = this.listening !== null;
    this.button.title = isOn
      ? t("Stop listening")
      : t("Dictate; the browser may send what it hears to a service of its maker");
    this.button.setAttribute("aria-label", isOn ? t("Stop listening") : t("Dictate"));
    this.button.setAttribute("aria-pressed", String(isOn));
  }
}
