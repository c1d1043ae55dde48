/** Looks into the directory of a zip without unpacking anything. */

/** The longest that the server reads, and the longest end that may follow it. */
const LONGEST_DIRECTORY = 2 ** 20;
const LONGEST_END = 22 + 2 ** 16;
/** An entry: its signature, 42 bytes, and its name. */
const MANIFEST = /PK\x01\x02[^]{42}manifest\.json/;

/** Whether the zip is a chat that Turnwire exported; other zips are those of other products. @param {Blob} file */
export async function hasManifest(file) {
  const end = await file.slice(Math.max(0, file.size - LONGEST_DIRECTORY - LONGEST_END)).arrayBuffer();
  // Of one byte each, so that their number is kept.
  return MANIFEST.test(new TextDecoder("latin1").decode(end));
}
