/**
 * Keeps the texts of edited messages that were not sent yet, as long as the page: another chat or branch may be shown,
 * which takes their editors away.
 */

export class UnsavedEdits {
  constructor() {
    /** By message. @type {Map<string, {session: string, text: string}>} */
    this.texts = new Map();
    /** The one that is shown. */
    this.session = "";
    addEventListener("beforeunload", (event) => this.texts.size > 0 && event.preventDefault());
  }

  get messages() {
    return [...this.texts.keys()];
  }

  /** @param {string} message @returns {string|undefined} */
  read(message) {
    return this.texts.get(message)?.text;
  }

  /** @param {string} message of the session that is shown @param {string} text @param {string} stored what the server has */
  keep(message, text, stored) {
    if (text === stored) this.texts.delete(message);
    else this.texts.set(message, { session: this.session, text });
  }

  /** Its edit was sent or cancelled. @param {string} message */
  forget(message) {
    this.texts.delete(message);
  }

  /** It was deleted. @param {string} deleted */
  forgetSession(deleted) {
    for (const [message, { session }] of this.texts) if (session === deleted) this.texts.delete(message);
  }
}
