/** Shortens a text to one line of a list. Pure. */

/** At a space if there is one in the second half, with "…" if anything was cut. @param {string} text one line @param {number} most characters */
export function shortened(text, most) {
  if (text.length <= most) return text;
  const begin = text.slice(0, most - 1).replace(HALF_A_CHARACTER, "");
  const space = text[begin.length] === " " ? begin.length : begin.lastIndexOf(" ");
  return `${(space >= most / 2 ? begin.slice(0, space) : begin).trimEnd()}…`;
}

const HALF_A_CHARACTER = /[\ud800-\udbff]$/;
