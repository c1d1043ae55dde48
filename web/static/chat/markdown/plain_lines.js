/** The lines of a text without colours. Pure. */

/**
 * @typedef {[kind: string, text: string]} Run  kind: a class of markdown.css, "" for plain
 * @typedef {{runs: Run[], isWhole: boolean}} Line  isWhole: nothing that began in it goes on in the next
 */

/** @param {string} text @returns {Line[]} */
export function plainLines(text) {
  return text
    .split(/(?<=\n)/)
    .concat(text.endsWith("\n") ? [""] : [])
    .map((line) => ({ runs: line ? [["", line]] : [], isWhole: true }));
}
