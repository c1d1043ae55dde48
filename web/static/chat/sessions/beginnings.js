/** How chats that were begun in this tab are called until they have a title. They survive a reload, not the tab. */

const STORAGE_KEY = "turnwire.beginnings";
/** A title comes with the first answer: older ones have theirs. */
const MOST = 50;

export class Beginnings {
  constructor() {
    /** id → text, the oldest first. @type {Map<string, string>} */
    this.texts = new Map(stored());
  }

  /** @param {string} session @returns {string} empty: it was begun elsewhere */
  get(session) {
    return this.texts.get(session) ?? "";
  }

  /** @param {string} session @param {string} text */
  set(session, text) {
    this.texts.set(session, text);
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...this.texts].slice(-MOST)));
  }
}

/** @returns {[string, string][]} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
  } catch {
    return [];
  }
}
