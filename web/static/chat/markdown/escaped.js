/** @param {string} text @returns {string} for HTML */
export function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
