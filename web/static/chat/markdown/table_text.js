/** A table as text for other programs. Pure. */

/** What spreadsheets would calculate: a model wrote it, and a formula may send what else the sheet holds. Numbers are none. */
const FORMULA = /^[=@\t\r]|^[+-](?![\d.,\s]*%?$)/;

/** @param {string} cell */
const harmless = (cell) => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Returns CSV (RFC 4180). @param {string[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => row.map(harmless).map(quoted).join(",")).join("\r\n");
}

/** Returns what spreadsheets take as cells when it is pasted: columns are separated by tabs. @param {string[][]} rows */
export function tabbedOf(rows) {
  return rows.map((row) => row.map((cell) => harmless(cell.replace(/\s+/g, " "))).join("\t")).join("\n");
}

/** @param {string} cell */
const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
