/** JSON whose long integers, which JavaScript rounds, are shown and sent as they were written. */

const LONG = /\d{16}/;
const INTEGER = /^-?\d+$/;
// Of ES2026; browsers without it round.
const { rawJSON } = /** @type {any} */ (JSON);

/** An integer that no number of JavaScript is. */
class LongInteger {
  /** @param {string} digits */
  constructor(digits) {
    this.digits = digits;
  }

  toJSON() {
    return rawJSON(this.digits);
  }

  toString() {
    return this.digits;
  }
}

/** Parse JSON as JSON.parse does. @param {string} text @returns {any} */
export function parseJson(text) {
  if (!rawJSON || !LONG.test(text)) return JSON.parse(text);
  return /** @type {any} */ (JSON).parse(text, exact);
}

/** @param {string} _name @param {any} value @param {{source?: string}} context */
function exact(_name, value, { source = "" }) {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(source);
  return isRounded ? new LongInteger(source) : value;
}
