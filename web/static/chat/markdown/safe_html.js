/**
 * What of a text may be in HTML: its characters escaped, and as images those of files on this server, contents and
 * thumbnails. Pure.
 */

const FILE = /^\/api\/files\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:content|thumbnail)\/$/i;

/**
 * Compares characters, not parsed addresses: what a browser would first correct or resolve is not shown. The server then
 * asks whose file it is.
 * @param {string} address @param {string} origin of the page
 * @returns {string|null} the path to load, or null
 */
export function ownImage(address, origin) {
  const path = origin && address.startsWith(`${origin}/`) ? address.slice(origin.length) : address;
  return FILE.test(path) ? path : null;
}

/** @param {string} text @returns {string} for HTML */
export function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
